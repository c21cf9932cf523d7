package main

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// waysToB has a way over r2, and one that is a hop shorter. Routers are kernels:
//
//	               .6 r2 .13
//	a .1 --- .2 r1 <          > .14 r4 .21 --- .22 b        all 198.51.100.
//	               .9 ------- .10
const waysToB = `
add a; add r1; add r2; add r4; add b
pair a north 1 r1 south 2; pair r1 up1 5 r2 south 6; pair r1 up2 9 r4 down2 10; pair r2 north 13 r4 down1 14; pair r4 north 21 b south 22
for r in r1 r2 r4; do ip netns exec $p-$r sh -c 'cd /proc/sys/net/ipv4; echo 1 >ip_forward; echo 1 >fib_multipath_hash_policy; for f in conf/*/rp_filter; do echo 0 >$f; done'; done
for r in r1 r2 r4 b; do ip netns exec $p-$r sh -c 'echo 0 >/proc/sys/net/ipv4/icmp_ratelimit'; done
ip -n $p-a route add default via 198.51.100.2
ip -n $p-r1 route add 198.51.100.20/30 via 198.51.100.6; ip -n $p-r2 route add 198.51.100.20/30 via 198.51.100.14
ip -n $p-r2 route add default via 198.51.100.5; ip -n $p-r4 route add default via 198.51.100.13; ip -n $p-b route add default via 198.51.100.21
`

// Who answers SYNs from nearer than echoes are answered is a proxy, if others are not answered there; where TCP has a shorter way it is none, if the far end tells what arrived, or else perhaps one.
func TestProxyAmongWays(t *testing.T) {
	t.Parallel() // it waits more than it works
	k := newKernelRouters(t, waysToB, "a", "r1", "r2", "r4", "b")
	k.respondOn("b")
	k.respondOn("r2")
	traced := func(port string) *measure.Middleboxes {
		found := k.trace("--middlebox", "--port", port, kernelTarget).Samples.Middleboxes
		if found == nil {
			t.Error("no middleboxes were sought")
			return &measure.Middleboxes{FarError: "none"}
		}
		return found
	}
	held := func(name, port string, want *measure.Proxy) {
		t.Helper()
		if d := cmp.Diff(want, traced(port).Proxy); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	k.sh(`set -e; ip netns exec $p-r2 nft 'table ip p {
	chain in {
		type nat hook prerouting priority -100
		tcp dport 80 redirect to :5201
	}
}'`)
	held("a proxy", "80", &measure.Proxy{TTL: 2, Distance: 4, Addresses: []string{"198.51.100.6"}})

	k.sh("set -e; ip -n $p-r1 route add 198.51.100.20/30 via 198.51.100.10 table 7; ip -n $p-r1 rule add ipproto tcp table 7")
	var all sync.WaitGroup
	all.Go(func() {
		if found := traced("4443"); found.Proxy != nil || found.FarError != "" || len(found.Changes) > 0 {
			t.Errorf("TCP has a shorter way, of which the far end tells: %+v", found)
		}
	})
	held("TCP has a shorter way, of which nobody tells", "5201", &measure.Proxy{TTL: 3, Distance: 4, Addresses: []string{"198.51.100.14"}, Possible: true})
	all.Wait()

	k.sh(`set -e; ip -n $p-r1 rule del ipproto tcp table 7; ip -n $p-r1 route add 198.51.100.20/30 via 198.51.100.6 table 8; ip -n $p-r1 rule add ipproto icmp table 8
ip -n $p-r1 route replace 198.51.100.20/30 nexthop via 198.51.100.6 nexthop via 198.51.100.10`)
	for range 3 {
		all.Go(func() {
			if found := traced("5201"); found.Proxy != nil && !found.Proxy.Possible {
				t.Errorf("flows take ways of different lengths: %+v", found.Proxy)
			}
		})
	}
	all.Wait()
}

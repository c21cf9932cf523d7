package main

import (
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// kernelFamily6 are routers that are kernels, over IPv6, with two ways from a to b. Each link has a /64 of its own, in which the nearer end is ::1:
//
//	a --- 1 --- r1 --- 2 --- r2 --- 4 --- r4 --- 6 --- b        all 2001:db8:0:LINK::/64
//	             `---- 3 --- r3 --- 5 ---'
var kernelFamily6 = kernelFamily{setup: kernelRouterSetup6, target: "2001:db8:0:6::2",
	ways: []string{"2001:db8:0:1::2 > 2001:db8:0:2::2", "2001:db8:0:1::2 > 2001:db8:0:3::2", "2001:db8:0:2::2 > 2001:db8:0:4::2",
		"2001:db8:0:3::2 > 2001:db8:0:4::2", "2001:db8:0:4::2 > 2001:db8:0:6::2"},
	silent: "2001:db8:0:1::2; *; 2001:db8:0:4::2", limit: "/proc/sys/net/ipv6/icmp/ratelimit", nft: "ip6", icmp: "icmpv6"}

// kernelRouterSetup6 has links be used at once: nobody asks whether an address is taken (RFC 4862). r4 answers by the address of its route back, as Linux does over IPv4; over IPv6
// it would take one of the interface that a packet came in by.
const kernelRouterSetup6 = `
pair() { # NEAR ITS-DEVICE FAR ITS-DEVICE LINK
  ip link add $2 netns $p-$1 type veth peer name $4 netns $p-$3
  for e in "$1 $2 1 $5" "$3 $4 2 $5"; do set -- $e; ip -n $p-$1 addr add 2001:db8:0:$4::$3/64 dev $2 nodad; ip -n $p-$1 link set $2 up; done; }
for h in a r1 r2 r3 r4 b; do add $h; ip netns exec $p-$h sh -c 'cd /proc/sys/net/ipv6/conf/default; echo 0 >accept_dad; echo 0 >dad_transmits'; done
pair a north r1 south 1; pair r1 up1 r2 south 2; pair r1 up2 r3 south 3; pair r2 north r4 down1 4; pair r3 north r4 down2 5; pair r4 north b south 6
for r in r1 r2 r3 r4; do ip netns exec $p-$r sh -c 'cd /proc/sys/net/ipv6; echo 1 >conf/all/forwarding; echo 1 >fib_multipath_hash_policy'; done
for r in r1 r2 r3 b; do ip netns exec $p-$r sh -c 'echo 0 >/proc/sys/net/ipv6/icmp/ratelimit'; done
ip -n $p-a route add default via 2001:db8:0:1::2
ip -n $p-r1 route add 2001:db8:0:6::/64 nexthop via 2001:db8:0:2::2 nexthop via 2001:db8:0:3::2
ip -n $p-r2 route add 2001:db8:0:6::/64 via 2001:db8:0:4::2; ip -n $p-r3 route add 2001:db8:0:6::/64 via 2001:db8:0:5::2
ip -n $p-r2 route add default via 2001:db8:0:2::1; ip -n $p-r3 route add default via 2001:db8:0:3::1
ip -n $p-r4 route add default via 2001:db8:0:4::1 src 2001:db8:0:4::2; ip -n $p-b route add default via 2001:db8:0:6::1
`

// keepsFlowLabel holds traces to one way where routers do not hash ports: Linux hashes IPv6's flow label in place of them, which a trace keeps like all else of its flow.
func keepsFlowLabel(t *testing.T, k *kernelRouters) {
	t.Helper()
	k.sh("for r in r2 r3 r4; do ip netns exec $p-$r nft delete table ip6 f; done; ip netns exec $p-r1 sh -c 'echo 0 >/proc/sys/net/ipv6/fib_multipath_hash_policy'")
	for _, proto := range []string{"udp", "icmp", "tcp"} {
		for range 3 { // by chance two ways would be taken for one in one of four
			r := k.trace(kernelFamily6.target, "--proto", proto)
			if len(r.Samples.Hops) != 4 || slices.ContainsFunc(r.Samples.Hops, func(h measure.Hop) bool { return len(h.Addresses) != 1 }) {
				t.Errorf("routers that hash the flow label, by %s: %s", proto, hopsText(r))
			}
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// kernelRouters are namespaces that forward, joined by veth pairs. The first router hashes ports over two ways (fib_multipath_hash_policy 1):
//
//	         .2      .6  r2 .13 --- .14
//	a .1 --- r1 .5 --<              >-- r4 .21 --- .22 b        all 198.51.100.
//	            .9 --<   r3 .17 --- .18
//	                .10
type kernelRouters struct {
	t    *testing.T
	name string
}

// kernelFamily is what of kernelRouters differs between IPv4 and IPv6.
type kernelFamily struct {
	setup, target string
	ways          []string // all links behind the first router, sorted
	silent        string   // the route where the routers of both ways say nothing, and UDP is dropped by the last
	limit         string   // the file that limits ICMP errors
	nft, icmp     string   // the family of tables, and the protocol of errors there
}

// kernelTarget is the address of host b over IPv4.
const kernelTarget = "198.51.100.22"

var kernelFamily4 = kernelFamily{setup: kernelRouterSetup, target: kernelTarget,
	ways: []string{"198.51.100.10 > 198.51.100.14", "198.51.100.14 > 198.51.100.22", "198.51.100.2 > 198.51.100.10", "198.51.100.2 > 198.51.100.6",
		"198.51.100.6 > 198.51.100.14"},
	silent: "198.51.100.2; *; 198.51.100.14", limit: "/proc/sys/net/ipv4/icmp_ratelimit", nft: "ip", icmp: "icmp"}

const kernelRouterSetup = `
add a; add r1; add r2; add r3; add r4; add b
pair a north 1 r1 south 2; pair r1 up1 5 r2 south 6; pair r1 up2 9 r3 south 10; pair r2 north 13 r4 down1 14; pair r3 north 17 r4 down2 18; pair r4 north 21 b south 22
for r in r1 r2 r3 r4; do ip netns exec $p-$r sh -c 'cd /proc/sys/net/ipv4; echo 1 >ip_forward; echo 1 >fib_multipath_hash_policy; for f in conf/*/rp_filter; do echo 0 >$f; done'; done
for r in r1 r2 r3 b; do ip netns exec $p-$r sh -c 'echo 0 >/proc/sys/net/ipv4/icmp_ratelimit'; done
ip -n $p-a route add default via 198.51.100.2
ip -n $p-r1 route add 198.51.100.20/30 nexthop via 198.51.100.6 nexthop via 198.51.100.10
ip -n $p-r2 route add 198.51.100.20/30 via 198.51.100.14; ip -n $p-r3 route add 198.51.100.20/30 via 198.51.100.18
ip -n $p-r2 route add default via 198.51.100.5; ip -n $p-r3 route add default via 198.51.100.9
ip -n $p-r4 route add default via 198.51.100.13; ip -n $p-b route add default via 198.51.100.21
`

// newKernelRouters makes namespaces of these names by lines of shell, which may use add and pair.
func newKernelRouters(t *testing.T, setup string, names ...string) *kernelRouters {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces that others may enter take root")
	}
	installed(t, "ip", "nft")
	k := &kernelRouters{t: t, name: fmt.Sprintf("pwt%d%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))}
	t.Cleanup(func() { k.sh("for r in " + strings.Join(names, " ") + "; do ip netns del $p-$r; done") })
	k.sh(`set -e
add() { ip netns add $p-$1; ip -n $p-$1 link set lo up; }
pair() { ip link add $2 netns $p-$1 type veth peer name $5 netns $p-$4; for e in "$1 $2 $3" "$4 $5 $6"; do set -- $e
  ip -n $p-$1 addr add 198.51.100.$3/30 dev $2; ip -n $p-$1 link set $2 up; done; }
` + setup)
	return k
}

// sh runs lines of a shell, in which $p is what the names of namespaces begin with.
func (k *kernelRouters) sh(lines string) {
	k.t.Helper()
	if out, err := exec.Command("sh", "-c", "p="+k.name+"\n"+lines).CombinedOutput(); err != nil {
		k.t.Fatalf("%v: %s", err, out)
	}
}

// onA is what a program on host a prints. What ends otherwise than well is told in what it printed.
func (k *kernelRouters) onA(argv ...string) string {
	c := exec.Command("ip", append([]string{"netns", "exec", k.name + "-a"}, argv...)...)
	c.Env = append(os.Environ(), actAsPathwise+"=1")
	out, err := c.Output()
	if err != nil {
		k.t.Errorf("%q: %v", argv, err)
	}
	return string(out)
}

func (k *kernelRouters) trace(flags ...string) measure.Result {
	return k.result(append([]string{lab.Self(), "trace", "--json"}, flags...))
}

// result is what a command line gives as JSON.
func (k *kernelRouters) result(argv []string) (r measure.Result) {
	out := k.onA(argv...)
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Samples.Route == nil && r.Samples.Paths == nil {
		k.t.Errorf("%v: %v: %s", argv, err, out)
		r.Samples.Route, r.Samples.Paths = &measure.RouteSample{}, &measure.PathsSample{}
	}
	return r
}

// hopsText are the addresses of a route, "*" for a hop that does not answer, with annotations.
func hopsText(r measure.Result) string {
	var all []string
	for _, h := range r.Samples.Hops {
		who := "*"
		if len(h.Addresses) > 0 {
			who = strings.Join(h.Addresses, ",")
		}
		all = append(all, strings.TrimSpace(who+" "+h.Annotation))
	}
	return strings.Join(all, "; ")
}

var (
	tracerouteHop = regexp.MustCompile(`(?m)^ *\d+ +(\S+)(.*)$`)
	annotationIn  = regexp.MustCompile(`![A-Z][-0-9]*`)
	hostIn        = regexp.MustCompile(`"host": "([^"]+)"`)
	addressOf     = regexp.MustCompile(`[0-9a-f]+[.:][0-9a-f.:]+`)
)

// tracerouteHops are those that traceroute, or scamper's text, has.
func tracerouteHops(out string) string {
	var all []string
	for _, m := range tracerouteHop.FindAllStringSubmatch(out, -1) {
		all = append(all, strings.TrimSpace(m[1]+" "+annotationIn.FindString(m[2])))
	}
	return strings.Join(all, "; ")
}

// mtrHops are those of mtr's JSON.
func mtrHops(out string) string {
	var all []string
	for _, m := range hostIn.FindAllStringSubmatch(out, -1) {
		all = append(all, strings.Replace(m[1], "???", "*", 1))
	}
	return strings.Join(all, "; ")
}

// treeLinks are those of scamper's tracelb, whose lines are such as "a -> (b, c) -> d".
func treeLinks(out string) []string {
	set := map[string]bool{}
	for _, line := range strings.Split(out, "\n") {
		groups := strings.Split(line, " -> ")
		for i := 1; i < len(groups); i++ {
			for _, from := range addressOf.FindAllString(groups[i-1], -1) {
				for _, to := range addressOf.FindAllString(groups[i], -1) {
					set[from+" > "+to] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func graphLinks(p *measure.PathsSample) []string {
	set := map[string]bool{}
	for _, k := range p.Links {
		set[p.Vertices[k.From].Address+" > "+p.Vertices[k.To].Address] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// overOneHop reports whether two links among all lead where one does: what is seen of a path by who does not hear the router between.
func overOneHop(all []string, link string) bool {
	from, to, _ := strings.Cut(link, " > ")
	return slices.ContainsFunc(all, func(first string) bool {
		by, ok := strings.CutPrefix(first, from+" > ")
		return ok && slices.Contains(all, by+" > "+to)
	})
}

// Over the kernel's own routers a trace sees the hops that traceroute, mtr and scamper see, and the ways that scamper's tracelb does, also where the
// kernel's packet filter drops, rejects and translates, and its routers limit their answers.
func TestTraceKernelRouters(t *testing.T) {
	installed(t, "traceroute", "mtr", "scamper")
	carrying(t)
	t.Run("IPv4", func(t *testing.T) {
		t.Parallel()
		kernelFamily4.judge(t)
	})
	t.Run("IPv6", func(t *testing.T) {
		t.Parallel()
		keepsFlowLabel(t, kernelFamily6.judge(t))
	})
}

// judge holds traces over these routers against the other programs. It leaves them with filters, as the last of what they are tried with.
func (f kernelFamily) judge(t *testing.T) *kernelRouters {
	t.Helper()
	k := newKernelRouters(t, f.setup, "a", "r1", "r2", "r3", "r4", "b")
	var all sync.WaitGroup
	same := func(what string, wants func() string, got func() string) {
		all.Go(func() {
			if want, got := wants(), got(); want != got {
				t.Errorf("%s:\n%s\nwant, as the other program has it\n%s", what, got, want)
			}
		})
	}
	icmpHops := func() string { return hopsText(k.trace(f.target, "--proto", "icmp")) }
	scamper := func() string {
		return tracerouteHops(k.onA("scamper", "-c", "trace -P icmp-paris -w 1 -q 1", "-i", f.target))
	}
	mtr := func() string {
		return mtrHops(k.onA("mtr", "-n", "-r", "-c", "2", "-i", "0.1", "-G", "0.3", "--json", f.target))
	}
	traceroute := func(flags ...string) func() string {
		return func() string {
			return tracerouteHops(k.onA(append([]string{"traceroute", "-n", "-w", "1", "-q", "1", f.target}, flags...)...))
		}
	}

	k.trace(f.target, "--proto", "icmp", "-n", "1") // the first packets to a neighbour can be lost

	// One router that limits its answers to six at once, and by IPv4 one a second (icmp_ratelimit), by IPv6 ten.
	limited := k.trace(f.target, "--proto", "icmp", "-n", "10")
	if diff := cmp.Diff([]measure.RouteRemark{{Kind: measure.RemarkFewAnswers, TTLs: []int{3}}}, limited.Samples.Route.Remarks); diff != "" {
		t.Errorf("a router that limits its answers (-want +got)\n%s", diff)
	}
	k.sh("ip netns exec $p-r4 sh -c 'echo 0 >" + f.limit + "'")

	// The kernel sends ICMP between two hosts one way, and UDP and TCP by their ports.
	same("plain, beside traceroute", traceroute("-I"), icmpHops)
	same("plain, beside mtr", mtr, icmpHops)
	same("plain, beside scamper", scamper, icmpHops)
	for proto, method := range map[string]string{"udp": "udp-sport", "tcp": "tcp-sport", "icmp": "icmp-echo"} {
		all.Go(func() {
			all := f.ways
			seen := treeLinks(k.onA("scamper", "-c", "tracelb -w 1 -W 15 -P "+method, "-i", f.target))
			p := k.trace(f.target, "--multipath", "--proto", proto).Samples.Paths
			got := graphLinks(p)
			if proto == "icmp" { // whichever way it is, it is one
				all = seen
			}
			if diff := cmp.Diff(all, got); diff != "" || !p.Complete {
				t.Errorf("all ways by %s (-want +got)\n%s", proto, diff)
			}
			for _, link := range seen { // it stops at 6 probes, by which one of two ways is missed at times
				if !slices.Contains(got, link) && !overOneHop(got, link) {
					t.Errorf("by %s scamper sees %s, which is not among %v", proto, link, got)
				}
			}
			for _, link := range p.Links {
				if link.Translated {
					t.Errorf("by %s: %s is told to be behind a translator", proto, p.Vertices[link.To].Address)
				}
			}
		})
	}
	all.Wait()

	// A translator of the kernel's: ports of its own, and checksums in quotes as they were outside.
	k.sh("F=" + f.nft + `; ip netns exec $p-r4 nft "add table $F t; add chain $F t p {type nat hook postrouting priority 100;}; add rule $F t p oifname north masquerade random"`)
	p := k.trace(f.target, "--multipath").Samples.Paths
	for _, link := range p.Links {
		if to := p.Vertices[link.To].Address; link.Translated != (to == f.target) {
			t.Errorf("with a translator before the target: the link to %s is translated: %v", to, link.Translated)
		}
	}
	k.sh("ip netns exec $p-r4 nft delete table " + f.nft + " t")

	// Routers that say nothing, and one that drops UDP and rejects a port.
	k.sh("F=" + f.nft + " I=" + f.icmp + `
for r in r2 r3; do ip netns exec $p-$r nft "add table $F f; add chain $F f o {type filter hook output priority 0;}; add rule $F f o $I type time-exceeded drop"; done
ip netns exec $p-r4 nft "add table $F f; add chain $F f c {type filter hook forward priority 0;}; add rule $F f c meta l4proto udp drop; add rule $F f c tcp dport 25 reject with $I type admin-prohibited"`)
	same("a silent hop, beside mtr", mtr, icmpHops)
	same("a silent hop, beside scamper", scamper, icmpHops)
	same("a port that is rejected, beside traceroute", traceroute("-T", "-p", "25"), func() string {
		return hopsText(k.trace(f.target, "--proto", "tcp", "--port", "25"))
	})
	all.Go(func() {
		r := k.trace(f.target)
		if got := hopsText(r); got != f.silent || r.Samples.Route.NotForwarding != 3 || r.Samples.Route.Certain {
			t.Errorf("UDP that is dropped: %s, %+v", got, r.Samples.Route)
		}
	})
	all.Wait()
	return k
}

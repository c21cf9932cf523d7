package main

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// amongStrangers are command lines whose Results strangers are not to change; B is host b, C another address of it. Those that begin with nobody run without root. The
// first of each group stands for it in the short form.
var amongStrangers = [][]string{
	{"trace B", "trace B -6", "nobody trace B -6 --proto icmp"},
	{"nobody trace B", "trace B --proto icmp", "trace B --proto tcp", "nobody trace B --proto icmp", "nobody trace B --proto tcp"},
	{"trace B -6 --proto tcp", "trace B -6 --proto icmp", "nobody trace B -6", "nobody trace B -6 --proto tcp"},
	{"trace B --multipath", "trace B -6 --multipath", "nobody trace B --multipath", "nobody trace B -6 --multipath"},
	{"trace B -6 --multipath --proto icmp", "trace B --multipath --proto icmp", "nobody trace B --multipath --proto icmp"},
	{"trace B --multipath --proto tcp", "trace B -6 --multipath --proto tcp"},
	{"trace B --report -c 3 --every 0.1s", "trace B -6 --report -c 3 --every 0.1s", "nobody trace B --report -c 3 --every 0.1s"},
	{"trace B -6 --report -c 3 --every 0.1s --proto udp", "trace B --report -c 3 --every 0.1s --proto udp", "trace B --report -c 3 --every 0.1s --proto tcp"},
	{"trace B C", "trace B C -6", "trace B C --proto icmp", "trace B C --proto tcp", "nobody trace B C", "nobody trace B C --proto tcp"},
	{"trace B --middlebox", "trace B -6 --middlebox"},
	{"trace B --both", "trace B -6 --both", "trace B --both --proto icmp"},
	{"trace B --mtu", "trace B -6 --mtu"},
	{"mtu B --proto icmp", "mtu B -6 --proto icmp", "nobody mtu B --proto icmp"},
	{"mtu B --proto stamp", "mtu B -6 --proto stamp", "nobody mtu B --proto stamp"},
	{"mtu B:4443 --proto tcp", "mtu B:4443 -6 --proto tcp"},
}

// held is what a Result holds of a path, without times, and without what differs from run to run.
type held struct {
	Hops      []measure.Hop
	Route     *measure.RouteSample
	Paths     *measure.PathsSample
	Rounds    []measure.HopRounds
	Boxes     *measure.Middleboxes
	Back      []measure.Hop
	Metrics   map[measure.Metric]float64
	Notes     []string
	Error     string
	Addresses []string
}

func heldOf(r *measure.Result) held {
	h := held{Hops: untimed(r.Samples.Hops), Boxes: r.Samples.Middleboxes, Metrics: map[measure.Metric]float64{}, Addresses: []string{r.Source.Address, r.Target.Address}}
	for name, value := range r.Metrics {
		if !strings.HasSuffix(string(name), "_seconds") && (r.Samples.Paths == nil || name == measure.HopCount) && r.Kind == "trace" || strings.HasSuffix(string(name), "_bytes") {
			h.Metrics[name] = value
		}
	}
	for _, note := range r.Notes {
		if !strings.HasPrefix(note, "another program has the port of the flow") { // several traces are under way to one target
			h.Notes = append(h.Notes, note)
		}
	}
	if route := r.Samples.Route; route != nil {
		whole := *route
		whole.SentPackets, whole.SentBytes = 0, 0
		h.Route = &whole
	}
	if paths := r.Samples.Paths; paths != nil {
		h.Paths = &measure.PathsSample{Links: paths.Links, Complete: paths.Complete}
		for _, v := range paths.Vertices {
			v.RTT, v.Flows = nil, 0
			h.Paths.Vertices = append(h.Paths.Vertices, v)
		}
	}
	if rounds := r.Samples.Rounds; rounds != nil {
		for _, one := range rounds.Hops {
			h.Rounds = append(h.Rounds, measure.HopRounds{TTL: one.TTL, Sent: one.Sent, Lost: one.Lost, Answered: one.Answered, From: one.From})
		}
	}
	if r.Samples.Return != nil {
		h.Back = untimed(r.Samples.Return.Hops)
	}
	if r.Error != nil {
		h.Error = *r.Error
	}
	return h
}

// untimed are hops of which each round trip is 1 s.
func untimed(hops []measure.Hop) (all []measure.Hop) {
	for _, h := range hops {
		h.RTTSeconds = slices.Clone(h.RTTSeconds)
		for i, rtt := range h.RTTSeconds {
			if rtt != nil {
				h.RTTSeconds[i] = new(1.0)
			}
		}
		all = append(all, h)
	}
	return all
}

// heldBy is what the Results of a command line hold.
func (k *kernelRouters) heldBy(line string) (all []held) {
	own, nobody := strings.CutPrefix(line, "nobody ")
	b, c := hostB.String(), "198.51.100.13"
	if strings.Contains(line, "-6") {
		b, c = "2001:db8:2::6", "2001:db8:2::7"
		own = strings.Replace(own, "B:4443", "["+b+"]:4443", 1)
	}
	argv := append([]string{lab.Self()}, strings.Fields(strings.NewReplacer("B", b, "C", c).Replace(own))...)
	if argv = append(argv, "--json", "-W", "2s"); nobody {
		argv = asNobody(argv)
	}
	for lines := json.NewDecoder(strings.NewReader(k.onA(argv...))); lines.More(); {
		var r measure.Result
		if err := lines.Decode(&r); err != nil {
			k.t.Errorf("%s: %v", line, err)
			break
		}
		all = append(all, heldOf(&r))
	}
	return all
}

// What strangers answer in between changes no Result of any mode of a trace, nor of an MTU: wrong in one thing each, not the first, or of what was never sent.
// PATHWISE_SWEEPS=all takes all of amongStrangers.
func TestResultsAmongStrangers(t *testing.T) {
	carrying(t)
	k := newKernelRouters(t, strangerSetup, "a", "r", "b")
	k.sh("ip netns exec $p-r nft delete table ip f")
	s := newStrangers(t, k)
	k.respondOn("b")
	var lines []string
	for _, group := range amongStrangers {
		if !allSweeps() {
			group = group[:1]
		}
		lines = append(lines, group...)
	}
	k.mtuUnchanged(s)
	alone, among := k.heldByEach(lines, 4), []([]held)(nil)
	s.during(everything, func() { among = k.heldByEach(lines, 1) }) // in a flood of answers, which takes the processors
	for i, line := range lines {
		if diff := cmp.Diff(alone[i], among[i]); diff != "" || len(alone[i]) == 0 || alone[i][0].Error != "" {
			t.Errorf("%s: alone %+v, among strangers (-alone +among)\n%s", line, alone[i], diff)
		}
	}
	if s.sent < 100*len(lines) {
		t.Errorf("only %d answers were forged", s.sent)
	}
}

// mtuUnchanged has strangers tell this host's kernel of an MTU while a trace runs, which is not of its packets.
func (k *kernelRouters) mtuUnchanged(s *strangers) {
	k.t.Helper()
	tooBig := func(b []byte) []forged {
		p, ok := readProbed(b)
		if !ok {
			return nil
		}
		return []forged{{packet: p.says(typeTooBig, stranger, p.packet[:p.header+8], nil)}}
	}
	s.during(tooBig, func() {
		if mtu, has := k.trace("--proto", "tcp", hostB.String()).Metrics[measure.PathMTU]; has {
			k.t.Errorf("a stranger's MTU of %v is told as the path's", mtu)
		}
	})
	k.sh("ip netns exec $p-a ip route flush cache")
}

// heldByEach runs command lines, so many at a time.
func (k *kernelRouters) heldByEach(lines []string, most int) [][]held {
	results, atOnce := make([][]held, len(lines)), make(chan struct{}, most)
	var all sync.WaitGroup
	for i, line := range lines {
		atOnce <- struct{}{}
		all.Go(func() {
			defer func() { <-atOnce }()
			results[i] = k.heldBy(line)
		})
	}
	all.Wait()
	return results
}

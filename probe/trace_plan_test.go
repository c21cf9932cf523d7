package probe

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

// traceNetwork answers the probes of a plan in a world without sockets.
type traceNetwork struct {
	hops    []time.Duration // round trip of each router, the last is the target; 0: it is silent
	refused string          // what the last one says if it is a router; "": it is the target
	exact   bool            // answers quote the TTL that was left
	least   bool            // quotes have nothing by which probes of one port can be told apart
	back    int             // how many more hops answers pass than probes did
}

// play drives a plan through the network as traceRun does. It returns how long it took, and the TTLs in the order of sending.
func (n traceNetwork) play(p *tracePlan) (took time.Duration, ttls []int) {
	type arrival struct {
		at     time.Time
		answer traceAnswer
	}
	start := time.Unix(1000, 0)
	now, free := start, start
	var flying []arrival
	for {
		ttl, more := p.next(now)
		if more && !now.Before(free) {
			hop := min(ttl, len(n.hops))
			if trip := n.hops[hop-1]; trip > 0 {
				a := traceAnswer{id: len(p.probes), from: netip.AddrFrom4([4]byte{10, 0, 0, byte(hop)}), at: sock.Stamp{User: now.Add(trip)},
					ttl: 64 - hop + 1 - n.back, expired: hop < len(n.hops) || ttl < hop, nameless: n.least && !p.distinct}
				if !a.expired {
					a.reached, a.reply = n.refused == "", "port unreachable"
					if !a.reached {
						a.reply = n.refused
					}
				}
				if n.exact {
					a.told = &icmp.Quote{TTL: uint8(ttl - hop + 1)}
				}
				flying = append(flying, arrival{a.at.User, a})
			}
			p.sent(ttl, now)
			ttls = append(ttls, ttl)
			free = now.Add(p.gap)
			continue
		}
		waiting, until := p.waiting(now)
		if more {
			until = free
		} else if waiting == 0 {
			return now.Sub(start), ttls
		}
		first := -1
		for i, a := range flying {
			if !a.at.After(until) {
				first, until = i, a.at
			}
		}
		now = until
		if first >= 0 {
			p.hear(flying[first].answer)
			flying = slices.Delete(flying, first, first+1)
		}
	}
}

func steps(n int, all time.Duration) (hops []time.Duration) {
	for i := range n {
		hops = append(hops, all*time.Duration(i+1)/time.Duration(n))
	}
	return hops
}

func TestTracePlan(t *testing.T) {
	const ms = time.Millisecond
	silentTail := append(steps(5, 50*ms), 0)
	hole := steps(12, 120*ms)
	hole[3], hole[7] = 0, 0
	for _, c := range []struct {
		name      string
		network   traceNetwork
		most      time.Duration
		sent      int // probes, the scout among them
		length    int
		reached   bool
		silent    []int // TTLs
		beyondEnd int   // probes past the target, but for the scout
	}{
		{"30 hops of 200 ms take two round trips", traceNetwork{hops: steps(30, 200*ms), exact: true}, 460 * ms, 90, 30, true, nil, 0},
		{"30 hops by the length of the way back", traceNetwork{hops: steps(30, 200*ms)}, 460 * ms, 90, 30, true, nil, 0},
		{"30 hops with 3 less on the way back", traceNetwork{hops: steps(30, 200*ms), back: -3}, time.Second, 90, 30, true, nil, 0},
		{"a near target gets no probe too many", traceNetwork{hops: steps(2, ms/2), exact: true}, 10 * ms, 7, 2, true, nil, 0},
		{"12 hops in one round trip and the spacing", traceNetwork{hops: steps(12, 30*ms), exact: true}, 75 * ms, 37, 12, true, nil, 0},
		{"silent hops cost the shortened wait", traceNetwork{hops: hole, exact: true}, 580 * ms, 38, 12, true, []int{4, 8}, 1},
		{"nobody beyond hop 5", traceNetwork{hops: silentTail}, 700 * ms, 90, 5, false, nil, 0},
		{"nobody at all", traceNetwork{hops: []time.Duration{0}}, 2100 * ms, 90, 0, false, nil, 0},
		{"a router refuses", traceNetwork{hops: steps(4, 40*ms), refused: "administratively prohibited", exact: true}, 110 * ms, 18, 4, false, nil, 5},
		{"quotes tell probes of one port not apart", traceNetwork{hops: steps(6, 60*ms), least: true}, 160 * ms, 30, 6, true, nil, 7},
	} {
		p := newTracePlan(Trace{}.withDefaults())
		took, ttls := c.network.play(p)
		beyond := 0
		for _, ttl := range ttls[1:] {
			if p.end > 0 && ttl > p.end {
				beyond++
			}
		}
		var silent []int
		for ttl := 1; ttl <= p.length(); ttl++ {
			if _, answered := p.hop(ttl, 0).Least(); !answered {
				silent = append(silent, ttl)
			}
		}
		if took > c.most || len(ttls) > c.sent || p.length() != c.length || p.target() != c.reached || !slices.Equal(silent, c.silent) || beyond > c.beyondEnd {
			t.Errorf("%s: took %v of %v, %d probes of %d, length %d of %d, target %v, silent %v, %d too far of %d\n%v", c.name, took, c.most, len(ttls), c.sent,
				p.length(), c.length, p.target(), silent, beyond, c.beyondEnd, ttls)
		}
		if first := ttls[0]; first != 30 {
			t.Errorf("%s: the scout went with TTL %d", c.name, first)
		}
	}
}

// A hop at the highest TTL is shown though the scout was the only packet to it, and no more packets are sent for that.
func TestTracePlanShowsTheHighestTTL(t *testing.T) {
	for maxTTL := 1; maxTTL <= 5; maxTTL++ {
		p := newTracePlan(Trace{MaxTTL: maxTTL, Queries: 1}.withDefaults())
		_, ttls := traceNetwork{hops: steps(6, 60*time.Millisecond)}.play(p)
		if p.length() != maxTTL || len(ttls) != maxTTL {
			t.Errorf("up to TTL %d: %d hops are shown, of packets %v", maxTTL, p.length(), ttls)
			continue
		}
		if h := p.hop(maxTTL, 0); len(h.RTTSeconds) != 1 || h.RTTSeconds[0] == nil || h.TTL != maxTTL {
			t.Errorf("the hop at TTL %d: %+v", maxTTL, h)
		}
	}
}

// What a plan hears may be late, twice, of nobody's probe: none of that enters a hop.
func TestTracePlanHears(t *testing.T) {
	const ms = time.Millisecond
	start := time.Unix(1000, 0)
	at := func(d time.Duration) sock.Stamp { return sock.Stamp{User: start.Add(d)} }
	who := netip.MustParseAddr("10.0.0.1")
	p := newTracePlan(Trace{Timeout: 100 * ms}.withDefaults())
	p.sent(30, start)
	p.sent(1, start)
	p.sent(1, start)
	p.stamped(1, time.Time{})
	p.stamped(99, start) // of no probe
	for _, c := range []struct {
		name string
		a    traceAnswer
		want bool
	}{
		{"a probe that was not sent", traceAnswer{id: 3, from: who, at: at(ms), expired: true}, false},
		{"before it was sent", traceAnswer{id: 1, from: who, at: at(-ms), expired: true}, false},
		{"too late", traceAnswer{id: 1, from: who, at: at(101 * ms), expired: true}, false},
		{"in time", traceAnswer{id: 1, from: who, at: at(20 * ms), expired: true}, true},
		{"the same again", traceAnswer{id: 1, from: netip.MustParseAddr("10.6.6.6"), at: at(21 * ms), expired: true}, false},
	} {
		if got := p.hear(c.a); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	want := measure.Hop{TTL: 1, Addresses: []string{"10.0.0.1"}, RTTSeconds: []*float64{new(0.02), nil, nil}}
	if diff := cmp.Diff(want, p.hop(1, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTraceHop(t *testing.T) {
	start := time.Unix(1000, 0)
	p := newTracePlan(Trace{Queries: 1}.withDefaults())
	p.sent(30, start)
	p.sent(1, start)
	p.hear(traceAnswer{id: 1, from: netip.MustParseAddr("10.0.0.1"), at: sock.Stamp{User: start.Add(time.Millisecond)}, expired: true, ttl: 250,
		told: &icmp.Quote{TTL: 3, DSCP: 0, ECN: 1}, extensions: icmp.Extensions{Labels: []icmp.Label{{Label: 17, Class: 5, TTL: 1}},
			Interfaces: []icmp.Interface{{Role: icmp.NextHop, Address: netip.MustParseAddr("10.0.0.2"), MTU: 9000}}, Fault: "it broke off"}})
	want := measure.Hop{TTL: 1, Addresses: []string{"10.0.0.1"}, RTTSeconds: []*float64{new(0.001)}, ReturnHops: 6, DSCP: new(0), ECN: new(1),
		QuotedTTL: new(3), MPLS: []measure.MPLSLabel{{Label: 17, Class: 5, TTL: 1}},
		Interfaces: []measure.HopPort{{Role: "next hop", Address: "10.0.0.2", MTU: 9000}}, Fault: "it broke off"}
	got := p.hop(1, 46)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	line := "  1  10.0.0.1                 1.00 ms  [6 back]  [DSCP 0]  [ECN 1]  [TTL 3]  <MPLS:L=17,E=5,S=1,T=1>  <next hop 10.0.0.2 MTU 9000>  [it broke off]"
	if got := hopLine(got); got != line {
		t.Errorf("line\n%s, want\n%s", got, line)
	}
}

func TestRouteOf(t *testing.T) {
	hop := func(ttl int, answered bool) measure.Hop {
		h := measure.Hop{TTL: ttl, RTTSeconds: []*float64{nil}}
		if answered {
			h.RTTSeconds[0] = new(0.001)
		}
		return h
	}
	marked := hop(3, true)
	marked.DSCP = new(0)
	for _, c := range []struct {
		name string
		hops []measure.Hop
		over *traceAnswer
		met  bool
		want measure.RouteSample
	}{
		{"nothing", nil, nil, false, measure.RouteSample{}},
		{"the target answers", []measure.Hop{hop(1, true), hop(2, false), marked, hop(4, true)}, &traceAnswer{reached: true}, true,
			measure.RouteSample{Reached: true, FirstSilent: 2, LastForwards: 3, DSCPChanged: 3}},
		{"a router refuses", []measure.Hop{hop(1, true), hop(2, true)}, &traceAnswer{}, false,
			measure.RouteSample{LastForwards: 1, NotForwarding: 2, Certain: true}},
		{"silence from hop 3 on", []measure.Hop{hop(1, false), hop(2, true)}, nil, false,
			measure.RouteSample{FirstSilent: 1, LastForwards: 1, NotForwarding: 2}},
		{"only the scout was answered", []measure.Hop{hop(1, true), hop(2, true)}, nil, true, measure.RouteSample{Reached: true, LastForwards: 2}},
	} {
		if diff := cmp.Diff(c.want, routeOf(c.hops, c.over, c.met)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

package probe

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// manyRoutes are routes of twelve hops in virtual time: the first six routers are those of all targets, the next three of fifty each, the next two of five
// each. Hop i answers 4 ms times i after the packet left; those in silent do not.
type manyRoutes struct {
	silent []netip.Addr
	onWay  []manyOnWay
	asked  map[netip.Addr][]time.Time
}

type manyOnWay struct {
	to     *manyTrace
	answer traceAnswer
	due    time.Time
}

const manyHops = 12

func (m *manyRoutes) router(target, ttl int) netip.Addr {
	group := 0
	switch {
	case ttl >= manyHops:
		return netip.AddrFrom4([4]byte{10, 99, byte(target >> 8), byte(target)})
	case ttl > 9:
		group = target / 5
	case ttl > 6:
		group = target / 50
	}
	return netip.AddrFrom4([4]byte{10, byte(ttl), byte(group >> 8), byte(group)})
}

func (m *manyRoutes) send(d manyDue, now time.Time) {
	id := len(d.plan.probes)
	d.plan.sent(d.ttl, now)
	who := m.router(d.index, d.ttl)
	m.asked[who] = append(m.asked[who], now)
	if slices.Contains(m.silent, who) {
		return
	}
	hop := min(d.ttl, manyHops)
	a := traceAnswer{id: id, from: who, expired: d.ttl < manyHops, reached: d.ttl >= manyHops, ttl: 64 - hop + 1}
	m.onWay = append(m.onWay, manyOnWay{d.manyTrace, a, now.Add(time.Duration(4*hop) * time.Millisecond)})
}

// play traces so many targets, and returns how long that took.
func (m *manyRoutes) play(t *testing.T, p *manyPlan) time.Duration {
	m.asked = map[netip.Addr][]time.Time{}
	start := time.Unix(1000, 0)
	left := p.count
	for now := start; now.Before(start.Add(5 * time.Minute)); now = now.Add(time.Millisecond) {
		if p.begin(); len(p.running) > manyAtOnce {
			t.Fatalf("%d traces are under way", len(p.running))
		}
		due, done := p.due(now)
		for _, d := range due {
			m.send(d, now)
		}
		for _, d := range done {
			m.check(t, d)
			left--
		}
		if left == 0 {
			return now.Sub(start)
		}
		m.onWay = slices.DeleteFunc(m.onWay, func(w manyOnWay) bool {
			if w.due.After(now) {
				return false
			}
			w.answer.at = sock.Stamp{User: w.due}
			p.hear(w.to, w.answer, now)
			return true
		})
	}
	t.Fatalf("%d traces are not done", left)
	return 0
}

// check holds a trace that is done against the route.
func (m *manyRoutes) check(t *testing.T, d *manyTrace) {
	if d.plan.end != manyHops {
		t.Errorf("target %d: ends at hop %d", d.index, d.plan.end)
		return
	}
	for ttl := 1; ttl <= manyHops; ttl++ {
		h, who := d.plan.hop(ttl, 0), m.router(d.index, ttl)
		want := []string{who.String()}
		if slices.Contains(m.silent, who) {
			want = []string{}
		}
		if !slices.Equal(h.Addresses, want) || len(h.RTTSeconds) != traceQueries {
			t.Errorf("target %d: hop %+v, want %v", d.index, h, want)
		}
	}
}

// busiest is the most packets that a router was asked for in any second.
func (m *manyRoutes) busiest() (most int) {
	for _, times := range m.asked {
		first := 0
		for i, at := range times {
			for at.Sub(times[first]) >= time.Second {
				first++
			}
			most = max(most, i-first+1)
		}
	}
	return most
}

// Five hundred targets take little longer than the router next to this host needs for 1500 packets, no router is asked more often than the rate says, and
// each route is right.
func TestManyPlan(t *testing.T) {
	for name, c := range map[string]struct {
		targets int
		rate    float64
		silent  []netip.Addr
		longest time.Duration
	}{
		"500 targets":                    {500, 200, nil, 11 * time.Second},
		"500, with a silent router":      {500, 200, []netip.Addr{netip.AddrFrom4([4]byte{10, 4, 0, 0})}, 15 * time.Second},
		"40 at a low rate":               {40, 20, nil, 10 * time.Second},
		"one":                            {1, 200, nil, time.Second},
		"2000, a quarter of the packets": {2000, 800, nil, 14 * time.Second},
	} {
		trace := Trace{Target: "many"}.withDefaults()
		m := &manyRoutes{silent: c.silent}
		took := m.play(t, newManyPlan(trace, c.targets, c.rate))
		least := time.Duration(float64(3*c.targets-1) / c.rate * float64(time.Second))
		busiest := m.busiest()
		t.Logf("%s: %v, of which %v is the first router's; at most %d packets in a second", name, took, least, busiest)
		if took < least || took > c.longest {
			t.Errorf("%s: took %v, want %v to %v", name, took, least, c.longest)
		}
		if float64(busiest) > 1.1*c.rate+3 {
			t.Errorf("%s: a router was asked %d times in a second", name, busiest)
		}
	}
}

// What is kept of routers does not grow with their number.
func TestHopPaceForgets(t *testing.T) {
	h := newHopPace(200)
	now := time.Unix(1000, 0)
	for i := range 100000 {
		name := hopName{address: netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})}
		if h.take(name, now); h.may(name, now) {
			t.Fatal("a router may be asked twice at once")
		}
		now = now.Add(time.Millisecond)
	}
	if len(h.free) > hopsKept {
		t.Errorf("%d routers are kept", len(h.free))
	}
}

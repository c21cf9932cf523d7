package probe

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// liveDiamond is five hops in virtual time, of which flows pass hop 3 and hop 4 at routers of their own: the router of flow f answers after 10 ms and f more.
//
//	1 ─ 2 ─┬─ 3.0 ── 4.0 ─┬─ 5      before 3.0 packets get lost
//	       ├─ 3.1 ── 4.1 ─┤
//	       └─ …           ┘
type liveDiamond struct {
	loss  float64
	sent  map[int][]time.Time // by TTL
	toss  bool                // at hop 3 packets of any flow come to any router
	onWay []liveOnPath
}

// play runs the rounds to their end.
func (d *liveDiamond) play(l *liveFlows) {
	random := rand.New(rand.NewPCG(3, 1))
	d.sent = map[int][]time.Time{}
	for now := liveStart; ; {
		l.expire(now)
		for len(d.onWay) > 0 && !d.onWay[0].due.After(now) {
			a := d.onWay[0].answer
			a.at = sock.Stamp{User: d.onWay[0].due}
			d.onWay = d.onWay[1:]
			l.hear(a)
		}
		plan, ttl, at, more := l.due(now)
		if more && !now.Before(at) {
			number := l.number(plan)
			l.sent(plan, ttl, now)
			d.sent[ttl] = append(d.sent[ttl], now)
			d.answer(number, ttl, plan, now, random)
			continue
		}
		next := l.until()
		for _, t := range []time.Time{at, d.next()} {
			if !t.IsZero() && (next.IsZero() || t.Before(next)) {
				next = t
			}
		}
		if next.IsZero() {
			return
		}
		now = next
	}
}

func (d *liveDiamond) next() time.Time {
	if len(d.onWay) == 0 {
		return time.Time{}
	}
	return d.onWay[0].due
}

func (d *liveDiamond) answer(number, ttl, flow int, now time.Time, random *rand.Rand) {
	hop, way := min(ttl, 5), 0
	if hop == 3 || hop == 4 {
		if way = flow; d.toss {
			way = random.IntN(4)
		}
	}
	if hop >= 3 && flow == 0 && random.Float64() < d.loss {
		return
	}
	a := traceAnswer{id: number, from: netip.AddrFrom4([4]byte{10, 0, byte(hop), byte(way)}), expired: ttl < 5, reached: ttl >= 5}
	d.onWay = append(d.onWay, liveOnPath{a, now.Add(time.Duration(10+way) * time.Millisecond)})
	slices.SortStableFunc(d.onWay, func(a, b liveOnPath) int { return a.due.Compare(b.due) })
}

func newTestLiveFlows(flows, rounds int) *liveFlows {
	numbers := make([]int, flows)
	for i := range numbers {
		numbers[i] = 10 * i
	}
	l := newLiveFlows(Trace{Target: "carol"}.withDefaults(), time.Second, rounds, numbers, liveStart)
	l.share = func(int, netip.Addr) float64 { return 1 / float64(flows) }
	return l
}

// Each router at a hop has a row of its own: its loss, its delay and its share; and a way that loses packets is told apart.
func TestLiveFlowsOfADiamond(t *testing.T) {
	l := newTestLiveFlows(4, 100)
	d := &liveDiamond{loss: 0.3}
	d.play(l)
	s := l.state()
	var rows []int
	for _, h := range s.Rounds.Hops {
		rows = append(rows, len(h.Routers))
		for k, r := range h.Routers {
			lossy := k == 0
			trip := 0.01 + 0.001*float64(k)
			if r.Sent != 100 || r.Flows != 1 || r.Share != 0.25 || lossy != (r.Lost > 15) || !lossy && r.Lost > 0 || math.Abs(*r.Mean-trip) > 1e-9 || r.Told.Addresses[0] != r.From[0].Address {
				t.Errorf("hop %d, router %d: %+v", h.TTL, k, r)
			}
		}
		if h.Sent != 400 || h.Lost+h.Answered != 400 {
			t.Errorf("hop %d: %+v", h.TTL, h)
		}
	}
	if diff := cmp.Diff([]int{0, 0, 4, 4, 0}, rows); diff != "" {
		t.Errorf("routers by hop (-want +got)\n%s", diff)
	}
	for i, way := range s.Rounds.Ways {
		if lossy := i == 0; way.Loss.Lossy != lossy || lossy && (way.Loss.Hop != 3 || way.Loss.After != 2) {
			t.Errorf("way %d: %+v", i, way)
		}
	}
	if loss := s.Rounds.Loss; loss.Hop != 0 || !loss.Lossy || math.Abs(loss.LossRatio-0.075) > 0.03 {
		t.Errorf("all together: %+v", loss)
	}
	const says = " By 10.0.3.0 (hop 3), 10.0.4.0 (hop 4): "
	if v := s.Rounds.Loss.Verdict; strings.Count(v, says) != 1 || strings.Count(v, "lost from hop 3 on") != 1 || strings.Count(v, "Of 4 flows 3 lose no more") != 1 {
		t.Errorf("it says: %s", v)
	}
	if len(s.Hops[2].RTTSeconds) > liveRecent || len(s.Hops[2].Addresses) != 4 {
		t.Errorf("hop 3 as a trace has it: %+v", s.Hops[2])
	}
}

// However many flows there are, a router that all pass is asked ten times a second at most.
func TestLiveFlowsKeepTheRate(t *testing.T) {
	for _, flows := range []int{1, 4, 10, 16, liveMostFlows} {
		l := newTestLiveFlows(flows, 5)
		d := &liveDiamond{}
		d.play(l)
		sent := d.sent[1]
		if len(sent) != 5*flows {
			t.Errorf("%d flows: %d packets to hop 1", flows, len(sent))
		}
		for i, at := range sent {
			if j := i + 11; j < len(sent) && sent[j].Sub(at) < time.Second {
				t.Errorf("%d flows: twelve packets to hop 1 within %v", flows, sent[j].Sub(at))
				break
			}
		}
	}
}

// Where packets of one flow come to several routers, nobody can tell which of them lost one: they are one row, with how often each answered.
func TestLiveFlowsOfPackets(t *testing.T) {
	l := newTestLiveFlows(4, 40)
	(&liveDiamond{toss: true}).play(l)
	for _, h := range l.state().Rounds.Hops[2:4] {
		if len(h.Routers) != 0 || len(h.From) != 4 || h.Answered != 160 {
			t.Errorf("%+v", h)
		}
	}
	// Few packets may come to one router each, by chance: the search knows better.
	few := newTestLiveFlows(4, 1)
	(&liveDiamond{}).play(few)
	few.tossed = tossedHops(&measure.PathsSample{Vertices: []measure.PathVertex{{TTL: 1}, {TTL: 2, Balancing: "packet"}, {TTL: 3}, {TTL: 3}, {TTL: 4}, {TTL: 4}, {TTL: 5}}})
	if diff := cmp.Diff(map[int]bool{3: true, 4: true}, few.tossed); diff != "" {
		t.Errorf("tossed (-want +got)\n%s", diff)
	}
	for _, h := range few.state().Rounds.Hops {
		if len(h.Routers) > 0 {
			t.Errorf("%+v", h)
		}
	}
}

// Flows are together where they share who answers, if only by way of a third; those that nobody answers are, too, and come last.
func TestPartedFlows(t *testing.T) {
	hop := func(from ...byte) *liveHop {
		h := &liveHop{}
		for _, b := range from {
			h.from = append(h.from, liveAddress{address: netip.AddrFrom4([4]byte{10, 0, 0, b})})
		}
		return h
	}
	hops := []*liveHop{hop(9), hop(), hop(1), hop(2, 3), hop(), hop(3, 4), hop(1), hop(4)}
	var got [][]int
	for _, g := range parted(hops) {
		var at []int
		for _, h := range g {
			at = append(at, slices.Index(hops, h))
		}
		slices.Sort(at)
		got = append(got, at)
	}
	if diff := cmp.Diff([][]int{{2, 6}, {3, 5, 7}, {0}, {1, 4}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

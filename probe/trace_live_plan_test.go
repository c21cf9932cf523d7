package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

// livePath is a route in virtual time: hop i answers 10 ms times i after the packet left.
type livePath struct {
	hops   int
	silent []int // hops that do not answer; the target is the last
	loss   float64
	lossy  int // the hop from which on loss holds

	random *rand.Rand
	onWay  []liveOnPath
	sent   []string // the TTLs of each round
}

type liveOnPath struct {
	answer traceAnswer
	due    time.Time
}

var liveStart = time.Unix(1000, 0)

// play runs a plan until it is over or change, which is called before each packet, says so, and returns when that was.
func (path *livePath) play(p *livePlan, change func(now time.Time) (stop bool)) time.Time {
	if path.random == nil {
		path.random = rand.New(rand.NewPCG(1, 1))
	}
	now := liveStart
	for {
		p.expire(now)
		for len(path.onWay) > 0 && !path.onWay[0].due.After(now) {
			a := path.onWay[0].answer
			a.at = sock.Stamp{User: path.onWay[0].due}
			path.onWay = path.onWay[1:]
			p.hear(a)
		}
		ttl, at, more := p.due(now)
		if more && !now.Before(at) {
			if change != nil && change(now) {
				return now
			}
			path.send(p, ttl, now)
			continue
		}
		next := p.until()
		for _, t := range []time.Time{at, path.next()} {
			if !t.IsZero() && (next.IsZero() || t.Before(next)) {
				next = t
			}
		}
		if next.IsZero() {
			return now
		}
		now = next
	}
}

func (path *livePath) next() time.Time {
	if len(path.onWay) == 0 {
		return time.Time{}
	}
	return path.onWay[0].due
}

func (path *livePath) send(p *livePlan, ttl int, now time.Time) {
	number := p.sent(ttl, now)
	for len(path.sent) < p.round {
		path.sent = append(path.sent, "")
	}
	path.sent[p.round-1] += fmt.Sprint(ttl, " ")
	hop := min(ttl, path.hops)
	if slices.Contains(path.silent, hop) || hop >= path.lossy && path.random.Float64() < path.loss {
		return
	}
	a := traceAnswer{id: number % liveNumbers, from: netip.AddrFrom4([4]byte{10, 0, 0, byte(hop)}), expired: ttl < path.hops, reached: ttl >= path.hops}
	path.onWay = append(path.onWay, liveOnPath{a, now.Add(time.Duration(10*hop) * time.Millisecond)})
	slices.SortStableFunc(path.onWay, func(a, b liveOnPath) int { return a.due.Compare(b.due) })
}

// state is what came of the packets of one flow.
func (p *livePlan) state() LiveState { return (&liveFlows{plans: []*livePlan{p}}).state() }

func newTestLivePlan(rounds int) *livePlan {
	return newLivePlan(Trace{Target: "carol"}.withDefaults(), time.Second, rounds, liveNumbers)
}

// The first round finds the end, three hops ahead of what answered, and passes silent ones; later ones send one packet to each hop.
func TestLiveRounds(t *testing.T) {
	for name, c := range map[string]struct {
		path    livePath
		want    []string
		reached bool
	}{
		"five hops":               {livePath{hops: 5}, []string{"1 2 3 4 5 6 7 ", "1 2 3 4 5 ", "1 2 3 4 5 "}, true},
		"one hop":                 {livePath{hops: 1}, []string{"1 2 3 ", "1 ", "1 "}, true},
		"four silent in a row":    {livePath{hops: 6, silent: []int{2, 3, 4, 5}}, []string{"1 2 3 4 5 6 7 8 9 ", "1 2 3 4 5 6 ", "1 2 3 4 5 6 "}, true},
		"the target is silent":    {livePath{hops: 4, silent: []int{4}}, []string{"1 2 3 4 5 6 7 8 9 10 11 ", "1 2 3 4 5 6 ", "1 2 3 4 5 6 "}, false},
		"nobody answers at all":   {livePath{hops: 2, silent: []int{1, 2}}, []string{"1 2 3 4 5 6 7 8 ", "1 2 3 ", "1 2 3 "}, false},
		"more than are asked for": {livePath{hops: 40}, nil, false},
	} {
		p := newTestLivePlan(3)
		c.path.play(p, nil)
		if c.want != nil && !cmp.Equal(c.want, c.path.sent) || p.reached != c.reached {
			t.Errorf("%s: sent %q, reached %v; want %q", name, c.path.sent, p.reached, c.want)
		}
	}
}

// Rounds keep their time, and packets of a round are spread over it.
func TestLivePace(t *testing.T) {
	p := newTestLivePlan(11)
	var times []time.Duration
	path := livePath{hops: 4}
	path.play(p, func(now time.Time) bool {
		times = append(times, now.Sub(liveStart))
		return false
	})
	got := times[len(times)-4:]
	want := []time.Duration{10 * time.Second, 10250 * time.Millisecond, 10500 * time.Millisecond, 10750 * time.Millisecond}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the eleventh round (-want +got):\n%s", diff)
	}
}

// However long the route is, no number is used again while an answer to the packet that had it may be under way.
func TestLiveNumbersRest(t *testing.T) {
	for _, c := range []struct {
		flows, hops int
		slower      bool
	}{{1, 30, false}, {1, 160, false}, {1, 255, true}, {2, 64, false}, {64, 30, false}} {
		trace := Trace{Target: "carol", MaxTTL: c.hops, Timeout: time.Second}.withDefaults()
		l := newLiveFlows(trace, LiveFastest, 0, make([]int, c.flows), liveStart)
		last, sent, now := map[int]time.Time{}, 0, liveStart
		const lasts = 25 * time.Second
		for _, p := range l.plans {
			p.end, p.settled = c.hops, true
		}
		for {
			l.expire(now)
			plan, ttl, at, more := l.due(now)
			if !more || at.Sub(liveStart) > lasts {
				break
			}
			if at.After(now) {
				now = at
			}
			l.expire(now)
			number := l.number(plan)
			if before, used := last[number]; used && now.Sub(before) < livePatience {
				t.Fatalf("%d flows, %d hops: number %d is used again after %v", c.flows, c.hops, number, now.Sub(before))
			}
			last[number] = now
			l.sent(plan, ttl, now)
			sent++
		}
		due := int(lasts/LiveFastest) * c.hops
		if slower := sent < due*8/10; slower != c.slower || sent > due+c.flows*c.hops {
			t.Errorf("%d flows, %d hops: %d packets of %d that were due", c.flows, c.hops, sent, due)
		}
	}
}

// A route that becomes longer or shorter is followed.
func TestLiveFollowsTheRoute(t *testing.T) {
	for _, hops := range []int{3, 5, 9} {
		p := newTestLivePlan(8)
		path := livePath{hops: 5}
		path.play(p, func(time.Time) bool {
			if p.round == 3 {
				path.hops = hops
			}
			return false
		})
		if p.length() != hops || !p.reached {
			t.Errorf("from 5 to %d hops: %d, reached %v; sent %q", hops, p.length(), p.reached, path.sent)
		}
	}
}

// What is lost of which hop is counted; the memory of a day is that of a minute.
func TestLiveFigures(t *testing.T) {
	p := newTestLivePlan(86400)
	path := livePath{hops: 4, loss: 0.1, lossy: 3}
	path.play(p, nil)
	s := p.state()
	for i, h := range s.Rounds.Hops {
		lossy := i >= 2
		if h.Sent != 86400 || h.Lost+h.Answered != h.Sent || lossy != (h.Lost > 0) || lossy && math.Abs(h.LossRatio-0.1) > 0.005 {
			t.Errorf("hop %d: %+v", h.TTL, h)
		}
		trip := 0.01 * float64(h.TTL)
		if math.Abs(*h.Best-trip) > 1e-9 || math.Abs(*h.Worst-trip) > 1e-9 || math.Abs(*h.Median-trip) > 0.01*trip || *h.Stddev > 1e-9 || *h.JitterWorst > 1e-9 {
			t.Errorf("hop %d: %+v", h.TTL, h)
		}
		if len(s.Hops[i].RTTSeconds) > liveRecent {
			t.Errorf("hop %d keeps %d round trips", h.TTL, len(s.Hops[i].RTTSeconds))
		}
	}
	if l := s.Rounds.Loss; l.Hop != 3 || l.After != 2 || !l.Reached {
		t.Errorf("loss is %+v", l)
	}
}

// A pause stops all packets, and goes on with a round; cleared figures count nothing of what was on its way.
func TestLivePauseAndReset(t *testing.T) {
	p := newTestLivePlan(0)
	path := livePath{hops: 3}
	path.play(p, func(now time.Time) bool { return p.round == 4 && p.cursor == 3 })
	p.pause(true, liveStart.Add(4*time.Second))
	if _, _, more := p.due(liveStart.Add(time.Minute)); more {
		t.Error("paused, and sends")
	}
	p.pause(false, liveStart.Add(time.Minute))
	if ttl, at, more := p.due(liveStart.Add(time.Minute)); ttl != 1 || at.After(liveStart.Add(time.Minute)) || !more {
		t.Errorf("goes on with TTL %d at %v, %v", ttl, at, more)
	}
	number := p.sent(1, liveStart.Add(time.Minute))
	p.reset()
	p.hear(traceAnswer{id: number, expired: true, at: sock.Stamp{User: liveStart.Add(time.Minute + time.Millisecond)}})
	if s := p.state(); s.Rounds.Rounds != 0 || s.Rounds.Hops[0].Sent != 0 || s.Rounds.Hops[0].Answered != 0 {
		t.Errorf("cleared: %+v", s.Rounds)
	}
}

// Several who answer at a hop are all told, the latest first, and what a router told of a mark.
func TestLiveHopTells(t *testing.T) {
	var h liveHop
	for i := range 3 * liveAddresses {
		h.send()
		from := netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 2)})
		if i > 2*liveAddresses {
			from = netip.AddrFrom4([4]byte{10, 1, 0, byte(i)})
		}
		h.answer(i, 0.01, &traceAnswer{from: from, expired: true, told: &icmp.Quote{TTL: 1, DSCP: 8}}, 46)
	}
	r := h.rounds(1)
	if len(r.From) > liveAddresses || r.From[0].Address != "10.1.0.95" || r.Answered != 3*liveAddresses {
		t.Errorf("%+v", r)
	}
	if hop := h.hop(1); hop.DSCP == nil || *hop.DSCP != 8 {
		t.Errorf("told %+v", hop)
	}
}

// What is answered late, twice, or not by its number, counts for nothing.
func TestLiveStrangeAnswers(t *testing.T) {
	p := newTestLivePlan(0)
	number := p.sent(1, liveStart)
	at := func(d time.Duration) sock.Stamp { return sock.Stamp{User: liveStart.Add(d)} }
	for name, a := range map[string]traceAnswer{
		"late": {id: number, at: at(p.timeout + time.Millisecond)}, "before it left": {id: number, at: at(-time.Millisecond)},
		"of no packet": {id: number + 1, at: at(time.Millisecond)}, "beyond all": {id: liveNumbers, at: at(time.Millisecond)},
	} {
		if p.hear(a) {
			t.Errorf("%s: counts", name)
		}
	}
	a := traceAnswer{id: number, at: at(time.Millisecond)}
	if !p.hear(a) || p.hear(a) {
		t.Error("an answer counts once")
	}
}

func TestLossSentence(t *testing.T) {
	for want, l := range map[string]measure.PathLoss{
		"No answer has come yet.":                                                                  {},
		"Nothing is lost (at most 0.95 %, at 95 %).":                                               {End: 3, Reached: true, High: 0.00951},
		"The target answers no more: hop 2 is the last that does.":                                 {End: 2},
		"Nothing is lost (at most 4 %, at 95 %). Hop 2 answers seldom, and forwards all the same.": {End: 3, Reached: true, High: 0.04, Limiting: []int{2}},
		"9.8 % of the packets (7.6 to 13 %, at 95 %) are lost from hop 4 on: hop 3 still loses fewer, and all behind it lose some, 99.9 % sure. " +
			"Hops 1, 2 and 5 answer seldom, and forward all the same.": {End: 6, Reached: true, Lossy: true, LossRatio: 0.0976, Low: 0.0764, High: 0.126, After: 3, Hop: 4, By: 4,
			Confidence: 0.99997, Limiting: []int{1, 2, 5}},
		"10 % of the packets (3 to 30 %, at 95 %) are lost; too few so far to say where.": {End: 6, Reached: true, Lossy: true, LossRatio: 0.1, Low: 0.03, High: 0.3, By: 5},
		"10 % of the packets (3 to 30 %, at 95 %) are lost, from a hop behind hop 2 and up to hop 5 on; more rounds will tell.": {End: 6, Reached: true, Lossy: true, LossRatio: 0.1,
			Low: 0.03, High: 0.3, After: 2, By: 5},
	} {
		if got := lossSentence(l, 6, true); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	want := "The target does not answer. As far as hop 3, the last that does, nothing is lost (at most 1 %, at 95 %)."
	if got := lossSentence(measure.PathLoss{End: 3, High: 0.01}, 3, false); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

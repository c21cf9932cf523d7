package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// prefix is what was measured up to a point, or to the end of a path.
type prefix struct {
	name       string
	change     func(*path)
	sent, lost float64 // packets, evenly; 0: none were
	routers    string  // on the way, one letter each; "": not traced
	failed     string
}

// part is the prefix as a Stretch. Packets are sent evenly at half of what the whole path carries.
func (p prefix) part() Stretch {
	s := Stretch{From: "here", To: p.name, Failed: p.failed}
	if p.change == nil {
		return s
	}
	one := hundred()
	one.sent, one.resent = 60_000, 0
	p.change(&one)
	s.Results = one.results()
	if p.sent > 0 {
		s.Results = append(s.Results, sentEvenly(p.sent, p.lost))
	}
	if p.routers != "" {
		trace := measure.NewResult("trace", testStart)
		trace.Samples.Hops = routeOf(p.routers)
		s.Results = append(s.Results, trace)
	}
	return s
}

func sentEvenly(sent, lost float64) *measure.Result {
	r := measure.NewResult("throughput", testStart)
	r.Parameters["proto"], r.Parameters["reverse"], r.Parameters["rate"] = "udp", false, 48.75e6
	r.Metrics = map[measure.Metric]float64{measure.SentRate: 48.75e6, measure.SentPackets: sent, measure.LostPackets: lost}
	return r
}

// routeOf is a route over routers of one letter each, - where one is silent, to a host that answers.
func routeOf(routers string) (hops []measure.Hop) {
	for i, name := range routers {
		h := measure.Hop{TTL: i + 1}
		if name != '-' {
			trip := 0.002 * float64(i+1)
			h.Addresses, h.RTTSeconds = []string{string(name)}, []*float64{&trip}
		}
		hops = append(hops, h)
	}
	return append(hops, measure.Hop{TTL: len(hops) + 1, Addresses: []string{"end"}, Reply: "port unreachable"})
}

// carries is a prefix of so long a round trip that is full.
func carries(rtt float64) func(*path) {
	return func(p *path) { p.rtt, p.loaded, p.goodput = rtt, rtt+0.05, 92e6 }
}

// slowly is a prefix of so long a round trip that is not full, with the goodput of a transfer and how many packets it sent again.
func slowly(rtt, goodput, resent float64) func(*path) {
	return func(p *path) { p.rtt, p.loaded, p.goodput, p.resent = rtt, rtt*1.01, goodput, resent }
}

// The whole path of these cases reaches 20 of 94 Mbit/s over 50 ms. A loss of one in 7,500 packets explains that, and 30,000 packets without a
// loss rule it out.
func TestJudgePrefixes(t *testing.T) {
	const enough = 30_000
	whole := prefix{change: slowly(0.05, 20e6, 40), sent: enough, lost: 8}
	p1, p2 := prefix{name: "p1", change: carries(0.004), sent: enough}, prefix{name: "p2", change: carries(0.02), sent: enough}
	bad := func(p prefix) prefix { p.lost = 7; return p }
	clean := func(p prefix) prefix { p.lost = 0; return p }
	for _, c := range []struct {
		name     string
		whole    prefix
		points   []prefix
		verdict  Blame
		blamed   []string
		outcomes []Outcome
		states   []PointState // nil: all are used
		says     string
	}{
		{name: "healthy", whole: prefix{change: carries(0.05)}, points: []prefix{p1, p2}, verdict: BlameNone, outcomes: []Outcome{Passes, Passes, Passes},
			says: "No part of the path holds it back: the whole reaches 92.0 Mbit/s of the 94.1 Mbit/s"},
		{name: "loss in the first", whole: whole, points: []prefix{bad(p1), bad(p2)}, verdict: BlameOne, blamed: []string{"here - p1"},
			outcomes: []Outcome{Fails, Untold, Untold}, says: "7 of 30000 packets were lost at 48.8 Mbit/s"},
		{name: "loss in the second", whole: whole, points: []prefix{p1, bad(p2)}, verdict: BlameOne, blamed: []string{"p1 - p2"},
			outcomes: []Outcome{Passes, Fails, Untold}, says: "Up to p1 the whole could reach"},
		{name: "loss in the last", whole: whole, points: []prefix{p1, p2}, verdict: BlameOne, blamed: []string{"p2 - carol"},
			outcomes: []Outcome{Passes, Passes, Fails}},
		{name: "points in another order", whole: whole, points: []prefix{bad(p2), p1}, verdict: BlameOne, blamed: []string{"p1 - p2"},
			outcomes: []Outcome{Passes, Fails, Untold}},
		{name: "loss in two", whole: prefix{change: slowly(0.05, 4e6, 200), sent: enough, lost: 150}, points: []prefix{p1,
			{name: "p2", change: p2.change, sent: enough, lost: 70}}, verdict: BlameSeveral, blamed: []string{"p1 - p2", "p2 - carol"}, outcomes: []Outcome{Passes, Fails, Fails}},
		{name: "too few packets to the first point", whole: whole, points: []prefix{{name: "p1", change: p1.change, sent: 3000}, bad(p2)},
			verdict: BlameLeft, blamed: []string{"here - p1", "p1 - p2"}, outcomes: []Outcome{Untold, Untold, Untold},
			says: "without another loss `pathwise throughput p1 --proto udp --rate 48750kbit --len 1400 -t 7` would tell"},
		{name: "too few, but what lies behind passes", whole: whole, points: []prefix{{name: "p1", change: p1.change, sent: 3000}, p2},
			verdict: BlameOne, blamed: []string{"p2 - carol"}, outcomes: []Outcome{Passes, Passes, Fails}},
		{name: "what is above a rate is dropped", whole: prefix{change: whole.change, sent: enough, lost: 18_000}, points: []prefix{p1,
			{name: "p2", change: slowly(0.02, 20.5e6, 900), sent: enough, lost: 17_500}}, verdict: BlameOne, blamed: []string{"p1 - p2"},
			outcomes: []Outcome{Passes, Fails, Untold}, says: "and a transfer reached 20.5 Mbit/s"},
		{name: "few collisions, at a rate that would do", whole: prefix{change: slowly(0.05, 4e6, 400), sent: enough}, points: []prefix{p1,
			{name: "p2", change: slowly(0.02, 10e6, 1200), sent: enough}}, verdict: BlameOne, blamed: []string{"p1 - p2"},
			outcomes: []Outcome{Passes, Fails, Untold}, says: "which over 50.0 ms leave 1.64 Mbit/s"},
		{name: "a narrow link", whole: prefix{change: func(p *path) { carries(0.05)(p); p.capacity, p.goodput = 30e6, 28e6 }}, points: []prefix{p1,
			{name: "p2", change: func(p *path) { carries(0.02)(p); p.capacity, p.goodput = 30e6, 28e6 }}}, verdict: BlameNone,
			outcomes: []Outcome{Passes, Passes, Passes}, says: "28.0 Mbit/s of the 29.0 Mbit/s that its narrowest link can carry, which is in p1 - p2."},
		{name: "collisions", whole: prefix{change: slowly(0.05, 2e6, 400), sent: enough}, points: []prefix{p1,
			{name: "p2", change: slowly(0.02, 30e6, 4000), sent: enough}}, verdict: BlameOne, blamed: []string{"p1 - p2"},
			outcomes: []Outcome{Passes, Fails, Untold}, says: "a transfer sent 6.67 % of its packets again"},
		{name: "a short queue", whole: clean(whole), points: []prefix{
			{name: "p1", sent: enough, change: func(p *path) { carries(0.004)(p); p.resent = 30 }},
			{name: "p2", sent: enough, change: func(p *path) { carries(0.02)(p); p.loaded, p.resent = 0.0212, 100 }}}, verdict: BlameOne,
			blamed: []string{"p1 - p2"}, outcomes: []Outcome{Passes, Fails, Untold}, says: "its queue overflowed with 14.6 kB in it"},
		{name: "a short queue at the end", whole: clean(whole), points: []prefix{p1, p2}, verdict: BlameOne, blamed: []string{"p2 - carol"},
			outcomes: []Outcome{Passes, Passes, Fails}},
		{name: "a host holds the whole", whole: prefix{change: func(p *path) { smallWindow(p); p.loaded = p.rtt }, sent: enough}, points: []prefix{p1, p2},
			verdict: BlameNone, outcomes: []Outcome{Passes, Passes, Passes}, says: "No part of the path holds it back: receive-window-limited"},
		{name: "a point that is farther than the end", whole: whole, points: []prefix{p1, {name: "p2", change: carries(0.08), sent: enough}},
			verdict: BlameOne, blamed: []string{"p1 - carol"}, outcomes: []Outcome{Passes, Fails}, states: []PointState{PointUsed, PointOffRoute}},
		{name: "a point by another route", whole: prefix{change: whole.change, sent: enough, lost: 8, routers: "ABC"}, points: []prefix{
			{name: "p1", change: p1.change, sent: enough, routers: "A"}, {name: "p2", change: p2.change, sent: enough, routers: "XYZ"}},
			verdict: BlameOne, blamed: []string{"p1 - carol"}, outcomes: []Outcome{Passes, Fails}, states: []PointState{PointUsed, PointOffRoute}},
		{name: "a point that nothing was measured to", whole: whole, points: []prefix{{name: "p1", failed: "connection refused"}, bad(p2)},
			verdict: BlameOne, blamed: []string{"here - p2"}, outcomes: []Outcome{Fails, Untold}, states: []PointState{PointAway, PointUsed}},
		{name: "a point that is slower than the path", whole: whole, points: []prefix{{name: "p1", change: slowly(0.004, 5e6, 0), sent: enough}, p2},
			verdict: BlameOne, blamed: []string{"p2 - carol"}, outcomes: []Outcome{Passes, Fails}, states: []PointState{PointWorse, PointUsed}},
		{name: "a point whose own link loses", whole: whole, points: []prefix{bad(p1), p2}, verdict: BlameOne, blamed: []string{"p2 - carol"},
			outcomes: []Outcome{Passes, Fails}, states: []PointState{PointWorse, PointUsed}},
		{name: "a point whose window is small", whole: whole, points: []prefix{{name: "p1", sent: enough,
			change: func(p *path) { slowly(0.004, 25e6, 0)(p); p.rwnd, p.window, p.rcvbuf = 0.9, 13e3, 26_000 }}, bad(p2)},
			verdict: BlameLeft, blamed: []string{"here - p1", "p1 - p2"}, outcomes: []Outcome{Untold, Untold, Untold},
			says: "the receive window of carol held the transfer at 25.0 Mbit/s"},
		{name: "no transfer to the end", whole: prefix{change: func(p *path) { p.goodput, p.noSamples = 0, true }}, points: []prefix{p1, p2},
			verdict: BlameUnknown, outcomes: []Outcome{Untold, Untold, Untold}},
	} {
		var points []Stretch
		for _, p := range c.points {
			points = append(points, p.part())
		}
		got := JudgePrefixes(Diagnose(c.whole.part().Results), nil, "here", "carol", points)
		var outcomes []Outcome
		for _, s := range got.Segments {
			outcomes = append(outcomes, s.Outcome)
		}
		var states []PointState
		for _, p := range got.Points {
			states = append(states, p.State)
		}
		if c.states == nil {
			c.states = []PointState{PointUsed, PointUsed}
		}
		if got.Verdict != c.verdict || !slices.Equal(got.Blamed, c.blamed) || !slices.Equal(outcomes, c.outcomes) || !slices.Equal(states, c.states) ||
			!strings.Contains(got.Says, c.says) {
			t.Errorf("%s: %s %q %v %v\n%s\nwant %s %q %v %v, %q", c.name, got.Verdict, got.Blamed, outcomes, states, got.Says, c.verdict, c.blamed,
				c.outcomes, c.states, c.says)
		}
	}
}

// A part is what a longer prefix adds to a shorter one, and what one connection reaches over it alone.
func TestSegmentOfPrefixes(t *testing.T) {
	p1 := prefix{name: "p1", change: carries(0.004), sent: 30_000}
	whole := prefix{change: slowly(0.05, 20e6, 40), sent: 30_000, lost: 30}
	got := JudgePrefixes(Diagnose(whole.part().Results), nil, "here", "carol", []Stretch{p1.part()}).Segments[1]
	trip, growth, rate, alone := 0.046, 0.0005, 20e6, 1448*8/(0.046*0.0316227766)
	want := Segment{From: "p1", To: "carol", RTTSeconds: &trip, RTTGrowthSeconds: &growth, SentPackets: 30_000, LostPackets: 30,
		LossRatio: &Estimate{0.001, 0.000674, 0.001427}, Throughput: &rate, Alone: &alone, CouldReach: &Estimate{20e6, 20e6, 20e6},
		Limit: LimitLoss, Outcome: Fails, Means: "30 of 30000 packets were lost at 48.8 Mbit/s, which leave 7.33 Mbit/s over a round trip of 50.0 ms"}
	near := cmp.Comparer(func(a, b float64) bool { return a == b || max(a, b)-min(a, b) < 0.02*max(a, b) })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// With a target, a part must let that pass: the same losses are too many for a rate, and few enough for a lower one.
func TestPrefixesOfTarget(t *testing.T) {
	whole := prefix{change: carries(0.05), sent: 30_000, lost: 30}
	p1 := prefix{name: "p1", change: carries(0.004), sent: 30_000}
	for rate, want := range map[float64]Blame{80e6: BlameNone, 97e6: BlameOne} {
		got := JudgePrefixes(Diagnose(whole.part().Results), &Target{Rate: rate}, "here", "carol", []Stretch{p1.part()})
		if got.Verdict != want || got.NeededBitsPerSecond != rate {
			t.Errorf("%v: %s, needed %v: %s; want %s", rate, got.Verdict, got.NeededBitsPerSecond, got.Says, want)
		}
	}
}

// Packets are sent evenly over a part until it is known whether it loses as many as the whole, and for two seconds where that is known.
func TestStretchStep(t *testing.T) {
	slow := prefix{change: slowly(0.05, 20e6, 40), sent: 30_000, lost: 8}
	for _, c := range []struct {
		name  string
		whole prefix
		part  prefix
		want  float64 // seconds; 0: no step
	}{
		{"nothing was sent", slow, prefix{change: carries(0.02)}, 8},
		{"nothing was lost of many", slow, prefix{change: carries(0.02), sent: 30_000}, 0},
		{"it loses as the whole does", slow, prefix{change: carries(0.02), sent: 20_000, lost: 8}, 0},
		{"a loss, which does not tell", slow, prefix{change: carries(0.02), sent: 35_000, lost: 1}, 3},
		{"no end", slow, prefix{change: carries(0.02), sent: 90_000, lost: 6}, 0},
		{"the whole is healthy", prefix{change: carries(0.05)}, prefix{change: carries(0.02)}, 2},
		{"the whole is healthy, and known", prefix{change: carries(0.05)}, prefix{change: carries(0.02), sent: 8700}, 0},
		{"the whole loses nothing", prefix{change: slow.change, sent: 40_000}, prefix{change: carries(0.02)}, 2},
	} {
		got, more := StretchStep(Diagnose(c.whole.part().Results), nil, c.part.part().Results)
		lasts, _ := got.Parameters["duration"].(float64)
		if more != (c.want > 0) || lasts != c.want || more && (got.Parameters["rate"] != 48.75e6 || got.Parameters["reverse"] != false) {
			t.Errorf("%s: %+v, want %v s", c.name, got, c.want)
		}
	}
}

// Each part is measured by itself here, from one point to the next.
func TestJudgeParts(t *testing.T) {
	const enough = 30_000
	whole := prefix{change: slowly(0.05, 20e6, 40), sent: enough, lost: 8}
	part := func(name string, trip float64) prefix { return prefix{name: name, change: carries(trip), sent: enough} }
	lossy := func(p prefix) prefix { p.lost = 8; return p }
	host := prefix{change: func(p *path) { smallWindow(p); p.loaded = p.rtt }, sent: enough}
	for _, c := range []struct {
		name     string
		whole    prefix
		parts    []prefix
		verdict  Blame
		blamed   []string
		outcomes []Outcome
		says     string
	}{
		{"healthy", prefix{change: carries(0.05)}, []prefix{part("p1", 0.01), part("carol", 0.04)}, BlameNone, nil, []Outcome{Passes, Passes},
			"No part of the path holds it back"},
		{"loss in the second", whole, []prefix{part("p1", 0.01), lossy(part("p2", 0.02)), part("carol", 0.02)}, BlameOne, []string{"p1 - p2"},
			[]Outcome{Passes, Fails, Passes}, "p1 - p2 holds the path back: 8 of 30000 packets were lost at 48.8 Mbit/s"},
		{"loss in two", whole, []prefix{lossy(part("p1", 0.01)), lossy(part("carol", 0.04))}, BlameSeveral, []string{"here - p1", "p1 - carol"},
			[]Outcome{Fails, Fails}, ""},
		{"one could not be measured", whole, []prefix{{name: "p1", failed: "p1 is away"}, part("carol", 0.04)}, BlameLeft, []string{"here - p1"},
			[]Outcome{Untold, Passes}, "here - p1: p1 is away"},
		{"all are sound", whole, []prefix{part("p1", 0.01), part("carol", 0.04)}, BlameNone, nil, []Outcome{Passes, Passes},
			"shows over the whole alone"},
		{"a host holds the whole", host, []prefix{part("p1", 0.01), part("carol", 0.04)}, BlameNone, nil, []Outcome{Passes, Passes},
			"receive-window-limited"},
		{"a point is slower than the path", whole, []prefix{{name: "p1", change: slowly(0.01, 5e6, 0), sent: enough}, lossy(part("carol", 0.04))},
			BlameOne, []string{"p1 - carol"}, []Outcome{Untold, Fails}, ""},
		{"the whole was not measured", prefix{change: func(p *path) { p.goodput, p.noSamples = 0, true }}, []prefix{part("p1", 0.01), part("carol", 0.04)},
			BlameUnknown, nil, []Outcome{Untold, Untold}, ""},
	} {
		from, parts := "here", []Stretch{}
		for _, p := range c.parts {
			one := p.part()
			one.From, from = from, p.name
			parts = append(parts, one)
		}
		got := JudgeParts(Diagnose(c.whole.part().Results), nil, parts)
		var outcomes []Outcome
		for _, s := range got.Segments {
			outcomes = append(outcomes, s.Outcome)
		}
		if got.Verdict != c.verdict || !slices.Equal(got.Blamed, c.blamed) || !slices.Equal(outcomes, c.outcomes) || !strings.Contains(got.Says, c.says) {
			t.Errorf("%s: %s %q %v\n%s\nwant %s %q %v, %q", c.name, got.Verdict, got.Blamed, outcomes, got.Says, c.verdict, c.blamed, c.outcomes, c.says)
		}
	}
}

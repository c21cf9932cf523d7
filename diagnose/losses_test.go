package diagnose

import (
	"math"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// overshoot changes readings of a sender so that its losses begin with a window, in packets, and a round trip, and lie in one second.
func overshoot(results []*measure.Result, window, trip float64) []*measure.Result {
	for _, r := range results {
		for _, one := range r.Samples.TCPInfo {
			one.Values["snd_cwnd_packets"], one.Values["total_retrans_packets"] = window/2, 0
			switch {
			case one.ElapsedSeconds < 0.5:
				one.Values["snd_cwnd_packets"], one.Values["rtt_seconds"] = window, trip
			case one.ElapsedSeconds < 1.5:
				one.Values["ca_state"], one.Values["rtt_seconds"] = recovery, trip
				one.Values["total_retrans_packets"] = 100 * (one.ElapsedSeconds - 0.4)
			default:
				one.Values["total_retrans_packets"] = 110
			}
		}
	}
	return results
}

// What slow start makes a long queue lose is told from what a short queue loses, and from what packets lose that collide.
func TestLossesOfFullPath(t *testing.T) {
	short := with(func(p *path) { bursty(p); p.sent, p.resent, p.halfLost = 10_000, 110, 0 })
	// The path holds 421 packets.
	for _, c := range []struct {
		name         string
		window, trip float64
		full         float64
		want         string
	}{
		{"few packets under way, no queue", 60, 0.051, 0, "shallow-buffer"},
		{"few packets under way, and delays that vary", 60, 0.09, 0, "shallow-buffer"},
		{"more than the path holds, and a queue", 700, 0.09, 110, "unexplained"},
	} {
		results := overshoot(short.results(), c.window, c.trip)
		d := Diagnose(results)
		if full := gather(results).ways[measure.Forward].Value(FullLosses); full != c.full || d.Verdict != c.want {
			t.Errorf("%s: %v lost of a full path, verdict %s, want %v and %s", c.name, full, d.Verdict, c.full, c.want)
		}
		checkFindings(t, d)
	}
	colliding := with(func(p *path) { bursty(p); p.goodput, p.sent, p.resent, p.halfLost = 2e6, 1000, 110, 0 })
	for trip, want := range map[float64]string{0.051: "duplex-mismatch", 0.09: "unexplained"} {
		if d := Diagnose(overshoot(colliding.results(), 700, trip)); d.Verdict != want {
			t.Errorf("colliding packets, round trip %v: verdict %s, want %s", trip, d.Verdict, want)
		}
	}
}

// udp is a probe by UDP of the way forward.
func udp(rate, sent, lost float64) *measure.Result {
	r := measure.NewResult("throughput", time.Time{})
	r.Parameters["reverse"], r.Parameters["proto"] = false, "udp"
	r.Metrics = map[measure.Metric]float64{measure.SentRate: rate, measure.SentPackets: sent, measure.LostPackets: lost}
	return r
}

// A policer whose rate is below that of the paced probe is told by a slower one, and one through which no train of packets fits by a faster
// one; the diagnosis asks for each. A loss that has no rate is neither.
func TestPolicerByTwoRates(t *testing.T) {
	low := with(func(p *path) { p.goodput, p.sent, p.resent = 4.8e6, 3400, 200 })
	tight := with(func(p *path) { p.capacity, p.goodput, p.sent, p.resent = 0, 4.8e6, 3400, 500 })
	plan := Plan(time.Second, measure.Forward)
	for _, c := range []struct {
		name   string
		path   path
		probes []*measure.Result
		asks   string // the step that is asked for next; "": none of these
		want   string
	}{
		{"the paced probe is cut", low, []*measure.Result{udp(9.75e6, 3400, 1600)}, "slow", "unexplained"},
		{"and a slower one is not", low, []*measure.Result{udp(9.75e6, 3400, 1600), udp(2.4e6, 860, 0)}, "", "policer"},
		{"and a slower one as well", low, []*measure.Result{udp(9.75e6, 3400, 1600), udp(2.4e6, 860, 400)}, "", "unexplained"},
		{"no train fits", tight, []*measure.Result{udp(1.6e6, 570, 0)}, "beyond", Unknown},
		{"and twice the rate is cut", tight, []*measure.Result{udp(1.6e6, 570, 0), udp(9.6e6, 1700, 800)}, "", "policer"},
		{"and twice the rate is cut to more", tight, []*measure.Result{udp(1.6e6, 570, 0), udp(9.6e6, 1700, 300)}, "", Unknown},
		{"and twice the rate passes", tight, []*measure.Result{udp(1.6e6, 570, 0), udp(9.6e6, 1700, 0)}, "", Unknown},
	} {
		results := append(c.path.results(), c.probes...)
		made := plan
		for _, p := range c.probes {
			name := "paced"
			if p != c.probes[0] {
				name = map[bool]string{true: "slow", false: "beyond"}[c.path.capacity > 0]
			}
			made = append(made, Step{Name: name, Kind: "throughput", Way: measure.Way(measure.Forward)})
		}
		asked := ""
		for _, s := range Extend(made, len(made), results)[len(made):] {
			if s.Name == "slow" || s.Name == "half" || s.Name == "beyond" {
				asked = s.Name
			}
		}
		d := Diagnose(results)
		if d.Verdict != c.want || asked != c.asks {
			t.Errorf("%s: verdict %s, asks for %q, want %s and %q", c.name, d.Verdict, asked, c.want, c.asks)
		}
		checkFindings(t, d)
	}
}

// The half probe lasts until what a policer's bucket had saved is spent, even if a busy host sends 21.25 of 25 Mbit/s: a transfer got 3 MB more
// than eight seconds of its steady rate, or nothing more, and then it may have been a second of that.
func TestHalfProbeEmptiesBucket(t *testing.T) {
	for goodput, want := range map[float64]float64{13e6: 2 + 24./11.25, 10e6: 2 + 10./11.25} {
		s := &Subject{Kind: OfWay, Name: measure.Forward, facts: map[Name]Fact{Capacity: {Value: 50e6}, Steady: {Value: 10e6},
			Goodput: {Value: goodput}, Duration: {Value: 8}}}
		step, ok := halfProbe(s)
		if lasts := step.Parameters["duration"].(float64); !ok || math.Abs(lasts-want) > 1e-9 {
			t.Errorf("goodput %v: it lasts %v s, want %v", goodput, lasts, want)
		}
	}
}

// A probe at half of the capacity that a busy host sent at a third is not one of a nearly empty path.
func TestHalfProbeOfBusyHost(t *testing.T) {
	s := &Subject{Kind: OfWay, Name: measure.Forward, facts: map[Name]Fact{Capacity: {Value: 50e6}, Steady: {Value: 10e6}}}
	for _, p := range []struct{ rate, asked float64 }{{5e6, 5e6}, {16e6, 25e6}} {
		r := measure.NewResult("throughput", testStart)
		r.Parameters["rate"] = p.asked
		s.udp = append(s.udp, udpProbe{1000, p.rate / 200e3, p.rate, r})
	}
	derivePaced(s)
	if paced, half := s.Value(PacedLoss), s.Value(HalfLoss); paced != .025 || half != .08 {
		t.Errorf("lost of a tenth %v, of half %v", paced, half)
	}
}

// back turns Results of the way forward into those of the way back.
func back(results []*measure.Result) []*measure.Result {
	for _, r := range results {
		if _, oneWay := r.Parameters["reverse"]; oneWay {
			r.Parameters["reverse"] = true
		}
		for i := range r.Samples.TCPInfo {
			r.Samples.TCPInfo[i].Direction = measure.Reverse
		}
		for i := range r.Samples.Ends {
			r.Samples.Ends[i].Direction = measure.Reverse
		}
	}
	return results
}

// Packets that collide make both ways slow. Where the other way carries what it can, one of several links is worse than the others, and the
// probes went over another one.
func TestNoCollisionsWhereTheOtherWayIsFull(t *testing.T) {
	slow := with(func(p *path) { bursty(p); p.goodput, p.sent, p.resent, p.halfLost = 2e6, 1000, 110, 0 })
	for _, c := range []struct {
		name string
		back path
		want string
	}{
		{"slow both ways", slow, "duplex-mismatch"},
		{"full on the way back", with(fullPath), "unexplained"},
	} {
		if d := Diagnose(append(slow.results(), back(c.back.results())...)); d.Verdict != c.want {
			t.Errorf("%s: verdict %s, want %s", c.name, d.Verdict, c.want)
		}
	}
}

// Where a path holds hardly a packet, all that TCP has under way waits before the narrowest link, so that a queue shows whatever drops
// packets. Half of the capacity is tried where TCP sends many packets again.
func TestPolicerNear(t *testing.T) {
	near := func(p *path) {
		p.capacity, p.rtt, p.loaded, p.goodput = 49.5e6, 20e-6, 0.005, 10e6
		p.sent, p.resent, p.pacedSent, p.pacedLost = 7000, 700, 1740, 0
	}
	for _, c := range []struct {
		name string
		path path
		asks bool
		want string
	}{
		{"much is sent again", with(near), true, "unexplained"},
		{"and half of the capacity is cut", with(func(p *path) { near(p); p.halfLost = 0.38 }), false, "policer"},
		{"and half of the capacity passes", with(func(p *path) { near(p); p.halfLost = 0 }), false, "unexplained"},
		{"little is sent again", with(func(p *path) { near(p); p.resent = 30 }), false, "cross-traffic"},
	} {
		plan := append(Plan(time.Second, measure.Forward), Step{Name: "paced", Way: measure.Way(measure.Forward)})
		asked := find(Extend(plan, len(plan), c.path.results()), "half") >= 0
		if d := Diagnose(c.path.results()); asked != c.asks || d.Verdict != c.want {
			t.Errorf("%s: asks for half of the capacity %v, verdict %s; want %v, %s", c.name, asked, d.Verdict, c.asks, c.want)
		}
	}
}

// A host that is so busy that it sends half of the capacity at little more than TCP got is asked for more, once; one that was not is not.
func TestHalfProbeAgain(t *testing.T) {
	limited := with(func(p *path) { p.capacity, p.goodput, p.sent, p.resent = 49.5e6, 16e6, 11_000, 280 })
	for _, c := range []struct {
		rates, lost []float64
		asks        bool
		want        string
	}{
		{[]float64{24.7e6}, []float64{0}, false, "shallow-buffer"},
		{[]float64{19e6}, []float64{140}, true, "unexplained"},
		{[]float64{22e6}, []float64{140}, false, "unexplained"},
		{[]float64{19e6, 23e6}, []float64{140, 1500}, false, "policer"},
	} {
		results := append(limited.results(), udp(4.9e6, 1700, 0))
		for i, rate := range c.rates {
			results = append(results, udp(rate, 8700, c.lost[i]))
		}
		plan := append(Plan(time.Second, measure.Forward), Step{Name: "paced", Way: measure.Way(measure.Forward)},
			Step{Name: "half", Way: measure.Way(measure.Forward)})
		asked := find(Extend(plan, len(plan), results), "half-again") >= 0
		if d := Diagnose(results); asked != c.asks || d.Verdict != c.want {
			t.Errorf("sent at %v, lost %v: asks again %v, verdict %s; want %v, %s", c.rates, c.lost, asked, d.Verdict, c.asks, c.want)
		}
	}
}

// One run of losses is an accident or one of many: a longer probe tells. Losses in a row count as one against what a short queue loses.
func TestRunsProbe(t *testing.T) {
	lost := with(func(p *path) { p.goodput, p.sent, p.resent = 20e6, 14_500, 64 })
	probe := func(rate, sent, lost, period float64) *measure.Result {
		r := udp(rate, sent, lost)
		r.Metrics[measure.LossPeriodMean] = period
		return r
	}
	for _, c := range []struct {
		name   string
		probes []*measure.Result
		asks   bool
		want   string
	}{
		{"single losses", []*measure.Result{probe(9.75e6, 1752, 8, 1)}, false, "unexplained"},
		{"one run", []*measure.Result{probe(9.75e6, 1752, 8, 8)}, true, "unexplained"},
		{"and more of them", []*measure.Result{probe(9.75e6, 1752, 8, 8), probe(10e6, 8760, 40, 8)}, false, "burst-loss"},
		{"and none again", []*measure.Result{probe(9.75e6, 1752, 8, 8), probe(10e6, 8760, 0, 0)}, false, "unexplained"},
		{"none, and runs of a faster probe", []*measure.Result{probe(9.75e6, 1752, 0, 0), probe(48e6, 4078, 24, 8)}, true, "unexplained"},
	} {
		plan := append(Plan(time.Second, measure.Forward), Step{Name: "paced", Way: measure.Way(measure.Forward)},
			Step{Name: "half", Way: measure.Way(measure.Forward)})
		results := append(lost.results(), c.probes...)
		asked := find(Extend(plan, len(plan), results), "runs") >= 0
		if d := Diagnose(results); asked != c.asks || d.Verdict != c.want {
			t.Errorf("%s: asks for a longer probe %v, verdict %s; want %v, %s", c.name, asked, d.Verdict, c.asks, c.want)
		}
	}
}

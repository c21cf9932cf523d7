package diagnose

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// loaded is a measurement of one-way delays beside a transfer of 3 s that goes a way, and that transfer. Packets wait there and back by so many
// seconds in the transfer's second half; the far clock is ahead by 7 s, which no queue may depend on.
func loaded(way string, there, back float64) []*measure.Result {
	const least, ahead, lead = 0.02, 7.0, 0.5
	delays, transfer := measure.NewResult("owd", testStart), measure.NewResult("throughput", testStart.Add(500*time.Millisecond))
	delays.DurationSeconds = 4
	transfer.Parameters["reverse"], transfer.Parameters["duration"] = way == measure.Reverse, 3.0
	transfer.Metrics[measure.Throughput] = 1e6
	for i := range 40 {
		at := float64(i) / 10
		forward, reverse := least+ahead, least-ahead
		if at > lead+1 && at < lead+3 {
			forward, reverse = forward+there, reverse+back
		}
		e := measure.Echo{SentSeconds: at, ForwardSeconds: new(forward), ReverseSeconds: new(reverse)}
		if i%8 == 7 { // lost
			e.ForwardSeconds, e.ReverseSeconds = nil, nil
		}
		delays.Samples.Echoes = append(delays.Samples.Echoes, e)
	}
	return []*measure.Result{delays, transfer}
}

// One-way delays beside a transfer tell on which way packets wait, and the transfer beside which they were measured takes no other's place.
func TestQueues(t *testing.T) {
	for _, c := range []struct {
		way           string
		forward, back float64
		there, other  float64 // as the way of the transfer sees it
	}{
		{measure.Forward, 0.3, 0, 0.3, 0}, {measure.Forward, 0, 0.4, 0, 0.4}, {measure.Reverse, 0.3, 0.1, 0.1, 0.3},
	} {
		g := gather(append(hundred().results(), loaded(c.way, c.forward, c.back)...))
		s := g.ways[c.way]
		if there, back := s.Value(QueueThere), s.Value(QueueBack); math.Abs(there-c.there) > 1e-9 || math.Abs(back-c.other) > 1e-9 {
			t.Errorf("%+v: %v there and %v back", c, there, back)
		}
		if got := g.ways[measure.Forward].Value(Goodput); got != 20e6 {
			t.Errorf("%+v: goodput %v, that of the transfer beside it", c, got)
		}
	}
	few := loaded(measure.Forward, 0.3, 0)
	few[0].Samples.Echoes = few[0].Samples.Echoes[:20]
	if f := gather(append(hundred().results(), few...)).ways[measure.Forward].Fact(QueueThere); f.Unknown == "" {
		t.Errorf("a queue of %v s is told by four packets", f.Value)
	}
	lossy := loaded(measure.Forward, 0, 0.4)
	for i := range lossy[0].Samples.Echoes {
		if e := &lossy[0].Samples.Echoes[i]; e.SentSeconds > 1.95 {
			e.ForwardSeconds, e.ReverseSeconds = nil, nil
		}
	}
	if f := gather(append(hundred().results(), lossy...)).ways[measure.Forward].Fact(QueueBack); math.Abs(f.Value-0.4) > 1e-9 {
		t.Errorf("packets wait 0.4 s on the way back until they are lost, and the last that came tell %+v", f)
	}
}

// Where packets wait tells acknowledgements that wait on the way back from others' traffic on the way of the data, whatever the way back is
// said to carry.
func TestWhereQueuesStand(t *testing.T) {
	for _, c := range []struct {
		name        string
		there, back float64
		carries     float64 // by the way back; 0: not known
		want        string
	}{
		{"back", 0.001, 0.04, 0, "ack-path-congested"},
		{"there", 0.04, 0.001, 0, "cross-traffic"},
		{"there, and the way back is narrow", 0.04, 0.001, 1e6, "cross-traffic"},
		{"both", 0.02, 0.02, 0, "cross-traffic"},
		{"nowhere", 0, 0, 0, "cross-traffic"},
	} {
		p := with(queued)
		p.back = c.carries
		results := append(p.results(), loaded(measure.Forward, c.there, c.back)...)
		d := Diagnose(results)
		checkFindings(t, d)
		if d.Verdict != c.want {
			t.Errorf("%s: %s, want %s", c.name, d.Verdict, c.want)
		}
	}
}

// What each way takes on the idle path is told of that way.
func TestOneWayFacts(t *testing.T) {
	r := measure.NewResult("owd", testStart)
	for way, ms := range map[string]float64{measure.Forward: 0.02, measure.Reverse: 0.005} {
		r.Metrics[measure.OneWay(way, "min")], r.Metrics[measure.OneWay(way, "median")], r.Metrics[measure.OneWay(way, "p95")] = ms, 2*ms, 3*ms
		r.Metrics[measure.SentOn(way)], r.Metrics[measure.LostOn(way)] = 20, 1e3*ms
		r.Metrics[measure.ReorderedOn(way)], r.Metrics[measure.DuplicateOn(way)] = 2e3*ms, 3e3*ms
	}
	r.Metrics[measure.OneWayError] = 0.001
	s := gather(append(hundred().results(), r)).ways[measure.Reverse]
	got := map[Name]float64{}
	for _, d := range oneWayDefinitions {
		if s.Known(d.Name) {
			got[d.Name] = s.Value(d.Name)
		}
	}
	want := map[Name]float64{WayLeast: 0.005, WayUsual: 0.01, WayHigh: 0.015, WayError: 0.001, WaySent: 20, WayLost: 5, WayReordered: 10,
		WayDuplicates: 15, BackLeast: 0.02, BackUsual: 0.04}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// On a long path the transfer lasts until a queue can stand, packets are sent until it ends, and they are waited for as long as queues were seen to be.
func TestLoadedStepOfLongPath(t *testing.T) {
	near, far := with(queued), with(func(p *path) { queued(p); p.rtt, p.loaded = 0.2, 1.2 })
	for _, c := range []struct {
		of                        path
		transfer, covers, timeout float64
	}{{near, 3, 3.9, 2}, {far, 4, 5.6, 4.8}} {
		step, _ := loadedOneWay(gather(c.of.results()).ways[measure.Forward])
		transfer, _ := step.Under.Parameters["duration"].(float64)
		timeout, _ := step.Parameters["timeout"].(float64)
		count, _ := step.Parameters["count"].(int)
		if covers := float64(count) * loadedInterval; transfer != c.transfer || covers < c.covers || math.Abs(timeout-c.timeout) > 1e-9 {
			t.Errorf("%v s of round trip: a transfer of %v s, packets for %v s, timeout %v s: %+v", c.of.rtt, transfer, covers, timeout, step)
		}
	}
}

// A queue that stands while a slow transfer runs has it asked on which way, once, and only of what can reflect; the step is made where a
// transfer can be made beside it, and leaves two Results.
func TestLoadedStep(t *testing.T) {
	results := with(queued).results()
	for _, r := range results {
		r.Parameters["peer"] = "pathwise"
	}
	plan := Plan(time.Second, measure.Forward)
	step, asked := ask(rules, gather(results).ways[measure.Forward], plan)
	if !asked || step.Name != "owd-loaded" || step.Under == nil || !step.Under.Transfer() || step.Calm < 0.05 || step.Calm > 0.09 {
		t.Fatalf("asked %v: %+v", asked, step)
	}
	if other, asked := ask(rules, gather(with(queued).results()).ways[measure.Forward], plan); asked && other.Under != nil {
		t.Errorf("an iperf3 server is to reflect: %+v", other)
	}
	for _, beside := range []bool{true, false} {
		e := Executor{Make: func(_ context.Context, s Step) (*measure.Result, error) {
			if i := slices.IndexFunc(results, func(r *measure.Result) bool { return r.Kind == s.Kind }); i >= 0 {
				return results[i], nil
			}
			return nil, nil
		}}
		made := 0
		if beside {
			e.Beside = func(_ context.Context, s Step) ([]*measure.Result, error) {
				made++
				return loaded(string(s.Way), 0, 0.04), nil
			}
		}
		all, _, err := e.Execute(t.Context(), plan)
		if err != nil || beside && (made != 1 || Diagnose(all).Verdict != "ack-path-congested") {
			t.Errorf("beside %v: made %d times, %s, %v", beside, made, Diagnose(all).Verdict, err)
		}
	}
}

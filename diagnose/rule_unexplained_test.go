package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// withOthers are a way that is slow for no known reason, and what several connections and another congestion control got on it, in bit/s.
func withOthers(many, other float64) []*measure.Result {
	all := hundred().results()
	if many > 0 {
		r := measure.NewResult("throughput", testStart)
		r.Parameters["reverse"], r.Parameters["proto"], r.Parameters["parallel"] = false, "tcp", 4.0
		r.Metrics[measure.Throughput] = many
		all = append(all, r)
	}
	if other > 0 {
		p := with(func(p *path) { p.congestion = "bbr" })
		r := p.results()[2]
		r.Metrics[measure.Throughput] = other
		all = append(all, r)
	}
	return all
}

// Where no cause is found, transfers of another sort tell whether the limit is each connection's, and whether it is how losses are taken. They
// are not judged themselves.
func TestUnexplainedCompares(t *testing.T) {
	for _, c := range []struct {
		name        string
		many, other float64
		says        string
		advice      []string
	}{
		{"nothing was compared", 0, 0, "the usual ones.", []string{"again"}},
		{"each connection is held", 75e6, 0, "Four connections together get 75.0 Mbit/s: what holds one of them holds each", []string{"again", "parallel"}},
		{"all are held", 21e6, 0, "Four connections together get 21.0 Mbit/s, hardly more than one", []string{"again"}},
		{"another congestion control gets more", 21e6, 80e6, "With another congestion control, one connection gets 80.0 Mbit/s", []string{"again", "control"}},
		{"another congestion control gets no more", 21e6, 22e6, "hardly more than one", []string{"again"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Diagnose(withOthers(c.many, c.other))
			if d.Verdict != "unexplained" || !strings.Contains(d.Findings[0].Explanation, c.says) || d.AchievedBitsPerSecond != 20e6 {
				t.Fatalf("%s at %g: %s", d.Verdict, d.AchievedBitsPerSecond, d.Findings[0].Explanation)
			}
			for _, one := range d.Findings[0].Advice {
				if one.Why == "" {
					t.Errorf("advice without a reason: %+v", one)
				}
			}
			if len(d.Findings[0].Advice) != len(c.advice) {
				t.Errorf("%d pieces of advice, want %v", len(d.Findings[0].Advice), c.advice)
			}
			checkFindings(t, d)
		})
	}
}

// A transfer with another congestion control that was interrupted, so that its sender told nothing any more, takes no place of the one that the way
// is judged by.
func TestComparedAndInterrupted(t *testing.T) {
	cubic := with(func(p *path) { p.congestion = "cubic" })
	cut := measure.NewResult("throughput", testStart)
	cut.Parameters["reverse"], cut.Parameters["proto"], cut.Parameters["cc"] = false, "tcp", "bbr"
	cut.Metrics[measure.Throughput] = 80e6
	cut.Samples.Ends = []measure.TCPEnd{{End: measure.Receiver, Direction: measure.Forward, CongestionControl: "bbr"}}
	s := gather(append(cubic.results(), cut)).ways[measure.Forward]
	if got, want := s.Value(Goodput), cubic.goodput; got != want || s.Value(OtherGoodput) != 80e6 {
		t.Errorf("goodput %g, want %g, and %g with another congestion control, want 80e6", got, want, s.Value(OtherGoodput))
	}
}

// Both comparisons are made where nothing else is left to ask, and not where a cause is known.
func TestComparedLast(t *testing.T) {
	asked := func(results []*measure.Result) []string {
		plan := Plan(8*time.Second, measure.Forward)
		for range 10 {
			plan = extend(plan, len(plan), results)
		}
		for _, s := range plan {
			if s.Compares() != (s.Name == "many" || s.Name == "other-control" || s.Name == "both-ways") {
				t.Errorf("%s compares: %v", s.Name, s.Compares())
			}
		}
		return names(plan[4:])
	}
	steps := asked(hundred().results())
	if diff := cmp.Diff([]string{"many", "other-control"}, steps[max(0, len(steps)-2):]); diff != "" {
		t.Errorf("of a path that is slow for no known reason (-want +got):\n%s", diff)
	}
	for _, known := range []path{with(smallWindow), with(lossy), with(fullPath), with(queued)} {
		if steps := asked(known.results()); slices.Contains(steps, "many") || slices.Contains(steps, "other-control") {
			t.Errorf("%s asks for %v", Diagnose(known.results()).Verdict, steps)
		}
	}
}

package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// path is what a made-up path does to windows: packets of 8000 bits over a round trip of 10 ms.
type path struct {
	rate, burst float64 // packets a second; times as fast at first
	queue       float64 // packets that may wait
	loss        float64 // of each
	collapse    bool    // beyond the knee the rate falls
}

func (p path) windows(plan []int) (all []measure.WindowSample) {
	const trip, bits, sent = 0.01, 8000, 1000
	for _, n := range plan {
		pipe := p.rate * trip
		beyond := max(0, float64(n)-pipe)
		waits := min(beyond, p.queue)
		rate := min(p.rate, float64(n)/trip)
		lost := 1 - (1-p.loss)*min(1, (pipe+p.queue)/float64(n))
		if p.collapse && beyond > 0 {
			rate, lost = p.rate/4, 0.875
		}
		s := measure.WindowSample{InFlight: n, Sent: sent, Lost: int(sent * lost), BitsPerSecond: rate * bits * (1 - p.loss),
			RTTMinSeconds: trip, RTTMedianSeconds: trip + waits/p.rate}
		s.EarlyBits = s.BitsPerSecond
		if p.burst > 0 && beyond > 0 {
			s.EarlyBits *= p.burst
		}
		all = append(all, s)
	}
	return all
}

// Each shape is told from the others, with its rate and its queue.
func TestReadWindows(t *testing.T) {
	for name, c := range map[string]struct {
		path
		to   int
		want windowReading
	}{
		"a long queue":       {path{rate: 1000, queue: 100}, 40, windowReading{shapeNormal, 8e6, 9, 30, false}},
		"a queue overflows":  {path{rate: 1000, queue: 15}, 40, windowReading{shapeNormal, 8e6, 9, 15, true}},
		"no queue":           {path{rate: 1000, queue: 1}, 40, windowReading{shapeNoQueue, 8e6, 9, 1, true}},
		"a shaper":           {path{rate: 1000, queue: 100, burst: 3}, 40, windowReading{shapeShaper, 8e6, 9, 30, false}},
		"a policer":          {path{rate: 1000, burst: 3}, 40, windowReading{shapePolicer, 8e6, 9, 0, true}},
		"each tenth lost":    {path{rate: 100_000, loss: 0.1}, 32, windowReading{shape: shapeLossy, knee: 30}},
		"a duplex fault":     {path{rate: 1000, collapse: true}, 40, windowReading{shape: shapeDuplex, knee: 9}},
		"wider than windows": {path{rate: 100_000, queue: 10}, 32, windowReading{shape: shapeRising, knee: 30}},
		"too few windows":    {path{rate: 1000}, 2, windowReading{shape: shapeUnknown}},
	} {
		got := readWindows(c.path.windows(windowPlan(1, c.to)), 8000)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(windowReading{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := readWindows([]measure.WindowSample{{InFlight: 1, Sent: 4, Lost: 4}, {InFlight: 2, Sent: 8, Lost: 8}, {InFlight: 3, Sent: 12, Lost: 12}}, 8000); got.shape != shapeUnknown {
		t.Errorf("without an answer: %+v", got)
	}
}

func TestReadWindow(t *testing.T) {
	for text, want := range map[string][2]int{"32": {1, 32}, "8..64": {8, 64}, "1": {1, 1}, "4096": {1, 4096},
		"": {}, "0": {}, "9..8": {}, "4097": {}, "1..": {}, "1...3": {}, "-1..3": {}} {
		from, to, err := readWindow(text)
		if (err != nil) != (want == [2]int{}) || err == nil && want != [2]int{from, to} {
			t.Errorf("%q: %d to %d, %v; want %v", text, from, to, err, want)
		}
	}
}

// However wide their range, windows are few, rise, and include both ends.
func TestWindowPlan(t *testing.T) {
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5}, windowPlan(1, 5)); diff != "" {
		t.Errorf("1 to 5 (-want +got):\n%s", diff)
	}
	for _, ends := range [][2]int{{1, 1}, {1, 64}, {8, 1000}, {1, 4096}} {
		plan := windowPlan(ends[0], ends[1])
		last := len(plan) - 1
		for i := range last {
			if plan[i] >= plan[i+1] {
				t.Errorf("%v: %v", ends, plan)
			}
		}
		if plan[0] != ends[0] || plan[last] != ends[1] || last > windowSteps {
			t.Errorf("%v: %v", ends, plan)
		}
	}
}

// The rate of a window is of its second half, and a burst shows in the first quarter.
func TestWindowFigures(t *testing.T) {
	var echoes []measure.Echo
	for i := range 11 { // answers at 10 to 110 ms
		echoes = append(echoes, measure.Echo{SentSeconds: 0.01 * float64(i), RTTSeconds: new(0.01)})
	}
	got := windowFigures(3, append(echoes, measure.Echo{SentSeconds: 0.2}), 1000)
	if got.InFlight != 3 || got.Sent != 12 || got.Lost != 1 || got.RTTMinSeconds != 0.01 || got.RTTMedianSeconds != 0.01 ||
		got.BitsPerSecond < 0.7e6 || got.BitsPerSecond > 1e6 || got.EarlyBits < 0.7e6 || got.EarlyBits > 1.3e6 {
		t.Errorf("%+v", got)
	}
	if got := windowFigures(1, []measure.Echo{{}}, 1000); got != (measure.WindowSample{InFlight: 1, Sent: 1, Lost: 1}) {
		t.Errorf("without answers: %+v", got)
	}
}

package window

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
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		path
		to   int
		want Reading
	}{
		"a long queue":       {path{rate: 1000, queue: 100}, 40, Reading{Normal, 8e6, 9, 30, false}},
		"a queue overflows":  {path{rate: 1000, queue: 15}, 40, Reading{Normal, 8e6, 9, 15, true}},
		"no queue":           {path{rate: 1000, queue: 1}, 40, Reading{NoQueue, 8e6, 9, 1, true}},
		"a shaper":           {path{rate: 1000, queue: 100, burst: 3}, 40, Reading{Shaper, 8e6, 9, 30, false}},
		"a policer":          {path{rate: 1000, burst: 3}, 40, Reading{Policer, 8e6, 9, 0, true}},
		"each tenth lost":    {path{rate: 100_000, loss: 0.1}, 32, Reading{Shape: Lossy, Knee: 28}},
		"a duplex fault":     {path{rate: 1000, collapse: true}, 40, Reading{Shape: Duplex, Knee: 9}},
		"wider than windows": {path{rate: 100_000, queue: 10}, 32, Reading{Shape: Rising, Knee: 28}},
		"too few windows":    {path{rate: 1000}, 2, Reading{Shape: Unknown}},
	} {
		got := Read(c.path.windows(upTo(c.to)), 8000)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := Read([]measure.WindowSample{{InFlight: 1, Sent: 4, Lost: 4}, {InFlight: 2, Sent: 8, Lost: 8}, {InFlight: 3, Sent: 12, Lost: 12}}, 8000); got.Shape != Unknown {
		t.Errorf("without an answer: %+v", got)
	}
}

// upTo are the windows of 1 to so many packets.
func upTo(last int) (plan []int) {
	for n := range last {
		plan = append(plan, n+1)
	}
	return plan
}

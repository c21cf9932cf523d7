package window

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
)

// path is what a made-up path does to windows: packets of 8000 bits, over a round trip of 10 ms where none waits.
type path struct {
	rate    float64 // packets a second
	queue   float64 // packets that may wait
	bucket  float64 // packets that pass at a fifth of a millisecond each; 0: bursts come as all else does
	loss    float64 // of each
	missing float64
}

func (p path) windows(last int) (all []measure.WindowSample) {
	const trip, bits, sent = 0.01, 8000, 1000
	for n := 1; n <= last; n++ {
		pipe, gap := p.rate*trip, 1/p.rate
		if p.bucket > 0 {
			gap = 0.0002
		}
		waits := min(max(0, float64(n)-pipe), p.queue)
		lost := 1 - (1-p.loss)*min(1, (pipe+p.queue)/float64(n))
		all = append(all, measure.WindowSample{InFlight: n, Sent: sent, Lost: int(sent * lost), BitsPerSecond: min(p.rate, float64(n)/trip) * bits,
			RTTMinSeconds: trip, RTTMedianSeconds: trip + waits/p.rate, RTTP95Seconds: trip + waits/p.rate, MissingRatio: p.missing,
			Burst: measure.WindowBurst{Passed: min(n, int(p.queue+p.bucket)+1), Lost: max(0, n-int(p.queue+p.bucket)-1), LeftSeconds: float64(n-1) * 1e-5,
				BitsPerSecond: bits / gap}})
	}
	return all
}

// What a shape says is of the path, and of one that says nothing of rate and queue both are zero.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		path
		to   int
		want Reading
	}{
		"a long queue":          {path{rate: 1000, queue: 100}, 40, Reading{Shape: Normal, BitsPerSecond: 8e6, Knee: 9, Queue: 24}},
		"a queue overflows":     {path{rate: 1000, queue: 15}, 40, Reading{Shape: Normal, BitsPerSecond: 8e6, Knee: 9, Queue: 15, Full: true}},
		"a shaper":              {path{rate: 1000, queue: 15, bucket: 30}, 40, Reading{Shape: Shaper, BitsPerSecond: 8e6, BurstBits: 40e6, Knee: 9, Queue: 15, Full: true}},
		"a policer":             {path{rate: 1000, bucket: 30}, 40, Reading{Shape: Policer, BitsPerSecond: 8e6, BurstBits: 40e6, LossRatio: 0.70}},
		"each tenth lost":       {path{rate: 100_000, loss: 0.1}, 32, Reading{Shape: Lossy, LossRatio: 0.1}},
		"wider than windows":    {path{rate: 100_000, queue: 10}, 32, Reading{Shape: Rising}},
		"too few windows":       {path{rate: 1000}, 7, Reading{Shape: TooFew}},
		"a host that is behind": {path{rate: 1000, queue: 100, missing: 0.5}, 40, Reading{Shape: Busy}},
	} {
		got := Read(c.path.windows(c.to), 8000)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 0.02)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var none []measure.WindowSample
	for n := range fewestWindows {
		none = append(none, measure.WindowSample{InFlight: n + 1, Sent: 4, Lost: 4})
	}
	if got := Read(none, 8000); got != (Reading{Shape: Unknown}) {
		t.Errorf("without an answer: %+v", got)
	}
}

package twin

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Losses that come in runs make a Gilbert model, others do not.
func TestLossModel(t *testing.T) {
	const n = 20_000
	for _, c := range []struct {
		name  string
		loss  *chance.Loss
		burst float64 // 1: independent
	}{
		{"independent", chance.Independent(0.02), 1},
		{"bursty", &chance.Loss{Gilbert: &chance.Gilbert{Ratio: 0.02, Burst: 4}}, 4},
	} {
		process := c.loss.New(0, rand.New(rand.NewPCG(1, 2)))
		rtts := make([]float64, n)
		for i := range rtts {
			rtts[i] = 0.020
			if process.Lost(0, 84) {
				rtts[i] = math.NaN()
			}
		}
		datagrams := result("throughput") // says that all of it is forward
		datagrams.Parameters = map[string]any{"proto": "udp", "reverse": false}
		datagrams.Metrics = map[measure.Metric]float64{measure.SentPackets: n, measure.LostPackets: 0.02 * n,
			measure.SentRate: 1e6}
		trains := result("capacity")
		trains.Parameters = map[string]any{"reverse": false, "size": 1500}
		trains.Metrics[measure.Capacity] = 100e6
		_, spec := mustTwin(t, ping(rtts...), datagrams, trains)
		got := spec.Links[0].Forward.Loss
		switch {
		case c.burst == 1:
			if got.Gilbert != nil || got.Ratio == nil || float64(*got.Ratio) != 0.02 {
				t.Errorf("%s: %v, want 2%%", c.name, got)
			}
		case got.Gilbert == nil || math.Abs(got.Gilbert.Burst-c.burst) > 0.8 || float64(got.Gilbert.Ratio) != 0.02:
			t.Errorf("%s: %v, want a Gilbert of 2%% in bursts of 4", c.name, got)
		}
	}
}

// The test for runs has the size that it says: of 2000 samples of independent losses about 1 % are called bursty, fewer
// where the count of runs is coarse. More than 35 would be five standard deviations off.
func TestBurstyIsRare(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	called := 0
	for range 2000 {
		lost := make([]bool, 1000)
		for i := range lost {
			lost[i] = random.Float64() < 0.05
		}
		c := tally{sent: len(lost)}
		for _, run := range stat.LossRuns(lost) {
			c.lost, c.runs = c.lost+run, c.runs+1
		}
		if c.bursty() {
			called++
		}
	}
	if called == 0 || called > 35 {
		t.Errorf("%d of 2000 independent samples are called bursty; want about 1 %%", called)
	}
	if p := fewRuns(tally{sent: 10, lost: 3, runs: 3}); math.Abs(p-1) > 1e-9 {
		t.Errorf("all runs there can be have probability %v, want 1", p)
	}
	// 8 places of C(10,3) = 120 for one run of three.
	if p := fewRuns(tally{sent: 10, lost: 3, runs: 1}); math.Abs(p-8.0/120) > 1e-9 {
		t.Errorf("one run of three in ten: %v, want %v", p, 8.0/120)
	}
}

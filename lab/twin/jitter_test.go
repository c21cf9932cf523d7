package twin

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Two ways with the twin's table add up to what the round trips were: the largest difference of the distribution
// functions stays below the critical value of the two-sample Kolmogorov-Smirnov test at 0.1 %, 1.95 sqrt(2/n)
// (Smirnov, 1948).
func TestHalvesAddUp(t *testing.T) {
	const n = 20_000
	for name, jitter := range map[string]chance.Jitter{
		"exponential": {Spread: notation.Delay(time.Millisecond), Distribution: chance.Exponential},
		"pareto":      {Spread: notation.Delay(time.Millisecond), Distribution: chance.Pareto},
	} {
		there, back := jitter.New(rand.New(rand.NewPCG(1, 1))), jitter.New(rand.New(rand.NewPCG(2, 2)))
		rtts := make([]float64, n)
		for i := range rtts {
			rtts[i] = 0.020 + float64(there.Extra(0)+back.Extra(0))/1e9
		}
		_, spec := mustTwin(t, ping(rtts...))
		table := spec.Links[0].Jitter
		if table == nil {
			t.Fatalf("%s: no jitter", name)
		}
		there, back = table.New(rand.New(rand.NewPCG(3, 3))), table.New(rand.New(rand.NewPCG(4, 4)))
		again := make([]float64, n)
		for i := range again {
			again[i] = float64(2**spec.Links[0].Delay)/1e9 + float64(there.Extra(0)+back.Extra(0))/1e9
		}
		if d, most := kolmogorov(rtts, again), 1.95*math.Sqrt(2.0/n); d > most {
			t.Errorf("%s: the distributions differ by %.4f, want at most %.4f", name, d, most)
		}
	}
}

// inOrder sends echoes a time apart over two ways that keep order, and returns their Result.
func inOrder(n int, apart, least float64, there, back func() float64) *measure.Result {
	rtts, first, second := make([]float64, n), 0.0, 0.0
	for i := range rtts {
		sent := float64(i) * apart
		first = max(first, sent+least/2+there())
		second = max(second, first+least/2+back())
		rtts[i] = second - sent
	}
	r := ping(rtts...)
	for i := range r.Samples.Echoes {
		r.Samples.Echoes[i].SentSeconds = float64(i) * apart
	}
	return r
}

// A rare long delay holds up the echoes behind it. That is one delay, not one for each: else the twin, which keeps
// order too, would have all of them again behind each.
func TestHeldEchoesCountOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rarelyLong := func() float64 {
		extra := 0.0003 * random.ExpFloat64()
		if random.Float64() < 0.005 {
			extra += 0.010
		}
		return extra
	}
	original := inOrder(20_000, 0.002, 0.020, rarelyLong, func() float64 { return 0 })
	_, spec := mustTwin(t, original)
	table := spec.Links[0].Jitter
	there, back := table.New(rand.New(rand.NewPCG(3, 3))), table.New(rand.New(rand.NewPCG(4, 4)))
	again := inOrder(20_000, 0.002, 0.020, func() float64 { return float64(there.Extra(0)) / 1e9 },
		func() float64 { return float64(back.Extra(0)) / 1e9 })
	// 0.03: the long delays of both ways together are as many as the original's only nearly, and each shows in five
	// echoes.
	if d := kolmogorov(roundTrips(original), roundTrips(again)); d > 0.03 {
		t.Errorf("the distributions differ by %.4f, want at most 0.03", d)
	}
	a, b := stat.Summarize(roundTrips(original)).P95, stat.Summarize(roundTrips(again)).P95
	if math.Abs(a-b) > 0.0005 {
		t.Errorf("p95 %.3f ms, the twin's %.3f ms", a*1000, b*1000)
	}
}

func kolmogorov(a, b []float64) (largest float64) {
	x, y := sorted(a), sorted(b)
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		if x[i] <= y[j] {
			i++
		} else {
			j++
		}
		largest = max(largest, math.Abs(float64(i)/float64(len(x))-float64(j)/float64(len(y))))
	}
	return largest
}

func sorted(values []float64) []float64 { r := ping(values...); return roundTrips(r) }

// Datagrams that varied as much as echoes did put the jitter on their way; a steady path has none.
func TestJitterSide(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	jitter := chance.Jitter{Spread: notation.Delay(time.Millisecond), Distribution: chance.Exponential}
	process := jitter.New(random)
	rtts := make([]float64, 2000)
	for i := range rtts {
		rtts[i] = 0.020 + float64(process.Extra(0))/1e9
	}
	trains := result("capacity")
	trains.Parameters = map[string]any{"reverse": true}
	trains.Metrics[measure.Capacity] = 100e6
	datagrams := result("throughput")
	datagrams.Parameters = map[string]any{"proto": "udp", "reverse": true}
	datagrams.Metrics = map[measure.Metric]float64{measure.SentPackets: 1000, measure.SentRate: 1e6, measure.Jitter: 0.001}
	_, spec := mustTwin(t, ping(rtts...), trains, datagrams)
	l := spec.Links[0]
	if l.Jitter != nil || l.Reverse == nil || l.Reverse.Jitter == nil || l.Forward != nil && l.Forward.Jitter != nil {
		t.Errorf("jitter is not in reverse alone: %v %v %v", l.Jitter, l.Forward, l.Reverse)
	}
	_, spec = mustTwin(t, ping(rtts...))
	if spec.Links[0].Jitter == nil {
		t.Error("without datagrams there is no jitter both ways")
	}
	steady := make([]float64, 100)
	for i := range steady {
		steady[i] = 0.020 + float64(i%10)*1e-6
	}
	if _, spec = mustTwin(t, ping(steady...)); spec.Links[0].Jitter != nil {
		t.Error("9 µs of it make a jitter")
	}
}

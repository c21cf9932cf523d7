package probe

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// readings are what a sender tells each 50 ms of a transfer whose rate at a moment, in bytes per second, is given.
func readings(seconds, trip float64, rate func(t float64) float64) (all []iperf3.Sample) {
	const step = 0.05
	acked := 0.0
	for t := step; t <= seconds+step/2; t += step {
		acked += rate(t) * step
		all = append(all, iperf3.Sample{Stream: 1, Sender: true, Elapsed: t,
			Values: map[string]float64{"bytes_acked": acked, "min_rtt_seconds": trip, "snd_mss_bytes": 1448}})
	}
	return all
}

func TestNarrowly(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	steady := func(float64) float64 { return 5e6 }
	sawtooth := func(period float64) func(float64) float64 {
		return func(t float64) float64 { return 5e6 * (0.5 + 0.5*math.Mod(t, period)/period) }
	}
	for name, c := range map[string]struct {
		seconds, trip float64
		rate          func(float64) float64
		want          bool
	}{
		"steady for 1.5 s":                {1.55, 0.02, steady, true},
		"steady, and too short":           {1.4, 0.02, steady, false},
		"steady, and few round trips":     {2.4, 0.1, func(float64) float64 { return 5e5 }, false},
		"steady for 25 round trips":       {2.6, 0.1, func(float64) float64 { return 5e5 }, true},
		"a window of 207 packets":         {5.9, 0.06, steady, false},
		"half of its round trips":         {6.3, 0.06, steady, true},
		"nothing moves":                   {4, 0.02, func(float64) float64 { return 0 }, false},
		"slow start, then steady":         {2.5, 0.05, func(t float64) float64 { return 2e6 * min(1, math.Pow(2, t/0.05)/1000) }, true},
		"slow start that goes on":         {2.5, 0.02, func(t float64) float64 { return 1e4 * math.Pow(2, t) }, false},
		"growing by a fifth each second":  {2.5, 0.02, func(t float64) float64 { return 5e6 * (1 + t/5) }, false},
		"half, and all, each 300 ms":      {2.5, 0.02, sawtooth(0.3), false},
		"silent for 200 ms":               {2.5, 0.02, func(t float64) float64 { return 5e6 * min(1, math.Abs(math.Floor((t-1.7)/0.2))) }, false},
		"readings that vary by a twelfth": {2.5, 0.02, func(float64) float64 { return 5e6 * (1 + 0.04*chance.NormFloat64()) }, true},
	} {
		if got := narrowly(0.05)(readings(c.seconds, c.trip, c.rate)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		seconds, acked, timers float64
		want                   bool
	}{
		"a black hole": {4.1, 38, 3, true}, "not for long enough": {3.9, 38, 3, false},
		"timers that did not run out": {4.1, 38, 2, false}, "a segment came": {4.1, 1448, 3, false},
	} {
		all := readings(c.seconds, 0.02, func(float64) float64 { return 0 })
		for i := range all {
			all[i].Values["bytes_acked"], all[i].Values["backoff"] = c.acked, c.timers
		}
		if got := narrowly(0.05)(all); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if narrowly(0.05)(nil) {
		t.Error("nothing was read, and it is narrow")
	}
}

// Streams count together, and both directions have to be known.
func TestNarrowlyOfStreams(t *testing.T) {
	var both, bidir []iperf3.Sample
	half := readings(3, 0.02, func(t float64) float64 { return 4e6 * (1 + math.Sin(t*9)) })
	other := readings(3, 0.02, func(t float64) float64 { return 4e6 * (1 - math.Sin(t*9)) })
	for i := range half {
		both = append(both, half[i], other[i])
		received := iperf3.Sample{Stream: 2, Elapsed: half[i].Elapsed, Values: map[string]float64{"bytes_received": half[i].Values["bytes_acked"]}}
		bidir = append(bidir, other[i], received)
	}
	if narrowly(0.05)(half) || narrowly(0.05)(bidir) || !narrowly(0.05)(both) {
		t.Errorf("one %v, each way %v, together %v; want false, false, true", narrowly(0.05)(half), narrowly(0.05)(bidir), narrowly(0.05)(both))
	}
}

// A transfer that is held to a rate ends long before its time, each way, and says what it was made with.
func TestThroughputEndsEarly(t *testing.T) {
	port := serve(t)
	for _, reverse := range []bool{false, true} {
		p := &Throughput{Target: "127.0.0.1", Port: port, Narrow: 0.05,
			Config: iperf3.Config{Duration: 20 * time.Second, Rate: 50e6, Reverse: reverse, Length: 8 << 10}}
		r, err := p.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.DurationSeconds < narrowLeast || r.DurationSeconds > 15 {
			t.Errorf("reverse %v: it took %.1f s", reverse, r.DurationSeconds)
		}
		if got := r.Metrics[measure.Throughput]; math.Abs(got/50e6-1) > 0.1 {
			t.Errorf("reverse %v: %v bit/s", reverse, got)
		}
		if r.Parameters["narrow"] != 0.05 || r.Parameters["duration"] != 20. || r.Status != measure.StatusOK {
			t.Errorf("reverse %v: %v, %v", reverse, r.Parameters, r.Status)
		}
	}
}

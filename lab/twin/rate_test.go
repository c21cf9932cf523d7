package twin

import (
	"math"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// The rate is the trains', or the transfer's that filled the link; the other way is taken for alike; the queue is
// what the round trip rose by.
func TestRateAndQueue(t *testing.T) {
	full := func(reverse bool) *measure.Result {
		// 40 samples at 20 Mbit/s of line: 1448 of 1538 bytes, and a round trip of 20 ms that 60 ms of queue make 80.
		var samples []map[string]float64
		for i := range 40 {
			samples = append(samples, map[string]float64{"min_rtt_seconds": 0.020,
				"rtt_seconds": min(0.080, 0.020+0.006*float64(i)), "snd_mss_bytes": 1448, "pmtu_bytes": 1500, "advmss_bytes": 1448,
				"delivered": 0.05 * float64(i) * 20e6 / 8 / 1538, "delivery_rate_bits_per_second": 20e6 * 1448 / 1538})
		}
		r := transfer(reverse, 20e6*1448/1538, samples...)
		r.Metrics[measure.RetransmittedBytes] = 14480
		return r
	}
	_, spec := mustTwin(t, ping(0.020, 0.0201, 0.0202), full(true))
	l := spec.Links[0]
	if l.Rate == nil || math.Abs(float64(*l.Rate)/20e6-1) > 0.001 {
		t.Errorf("rate %v, want 20 Mbit/s both ways", l.Rate)
	}
	if l.Forward != nil && l.Forward.Queue != nil || l.Reverse == nil || l.Reverse.Queue == nil {
		t.Fatalf("queues: forward %v, reverse %v; want one in reverse", l.Forward, l.Reverse)
	}
	want := 0.060 * 20e6 / 8 * 1500 / 1538
	if got := float64(l.Reverse.Queue.Limit.Bytes); math.Abs(got/want-1) > 0.02 {
		t.Errorf("queue %v bytes, want %v", got, want)
	}

	idle := transfer(false, 3e6,
		map[string]float64{"min_rtt_seconds": 0.020, "rtt_seconds": 0.0205, "snd_mss_bytes": 1448})
	_, spec = mustTwin(t, ping(0.020), idle)
	if spec.Links[0].Rate != nil || spec.Links[0].Forward != nil {
		t.Errorf("a transfer that filled nothing makes a rate: %v", spec.Links[0])
	}
}

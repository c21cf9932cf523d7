package model

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// 20 Mbit/s over 30 ms hold 75 kB; the next 100 kB stand for 40 ms, and what a queue has no room for does not stand in it.
func TestStandingRTT(t *testing.T) {
	for inFlight, want := range map[float64]time.Duration{0: 30 * ms, 75e3: 30 * ms, 175e3: 70 * ms, 10e6: 130 * ms} {
		if got := StandingRTT(inFlight, 20e6, 30*ms, 250e3); got != want {
			t.Errorf("%v bytes: %v, want %v", inFlight, got, want)
		}
	}
}

func TestTokenBucketBytes(t *testing.T) {
	for since, want := range map[time.Duration]float64{0: 0, 4 * ms: 50e3, 100 * ms: 175e3, time.Second: 1.3e6} {
		near(t, since.String(), TokenBucketBytes(since, 100e6, 10e6, 50e3), want, 1e-9)
	}
	near(t, "a line slower than the tokens", TokenBucketBytes(time.Second, 5e6, 10e6, 50e3), 625e3, 1e-9)
}

// Packets come out of the narrowest link as far apart as it takes for one, and stay so.
func TestDepartures(t *testing.T) {
	want := [][]time.Duration{{ms, 11 * ms, 12 * ms}, {2 * ms, 21 * ms, 22 * ms}}
	if diff := cmp.Diff(want, Departures(2, 1250, 10e6, 1e6, 10e6)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestQueueWaits(t *testing.T) {
	if diff := cmp.Diff([]float64{0, 2, 3, 0}, QueueWaits([]float64{0, 1, 2, 9}, []float64{3, 3, 3, 3})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package model

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestBandwidthDelayAndWindowLimitAreInverse(t *testing.T) {
	for _, rate := range []float64{56e3, 100e6, 400e9} {
		for _, rtt := range []time.Duration{85 * time.Microsecond, 50 * ms, 2 * time.Second} {
			near(t, "rate", WindowLimit(BandwidthDelay(rate, rtt), rtt), rate, 1e-12)
		}
	}
	if got := BandwidthDelay(100e6, 50*ms); got != 625000 {
		t.Errorf("100 Mbit/s over 50 ms: %v B, want 625000", got)
	}
}

func TestSeconds(t *testing.T) {
	cases := map[float64]time.Duration{0: 0, 0.05: 50 * ms, 1e-9: 1, 1e300: math.MaxInt64, -1e300: math.MinInt64, math.Inf(1): math.MaxInt64}
	for in, want := range cases {
		if got := Seconds(in); got != want {
			t.Errorf("Seconds(%v) = %d, want %d", in, got, want)
		}
	}
	if got := Seconds(math.NaN()); got != 0 {
		t.Errorf("Seconds(NaN) = %d, want 0", got)
	}
}

// The same count as the formulas', one round trip at a time.
func TestSlowStart(t *testing.T) {
	for _, s := range []SlowStart{{MSS: 1448}, {MSS: 8948, Initial: 10}, {MSS: 536, Initial: 2}} {
		initial := s.Initial
		if initial == 0 {
			initial = 10
		}
		for _, bytes := range []float64{1, 536, 1072, 14480, 14481, 43440, 43441, 100e3, 1e6, 50e6, 10e9} {
			window, sent, reach := initial*s.MSS, 0.0, 0
			for ; window < bytes; reach++ {
				sent += window
				window *= 2
			}
			if rounds, gotSent := s.ToWindow(bytes); rounds != reach || gotSent != sent {
				t.Errorf("%+v to a window of %v: %d rounds, %v B; want %d, %v", s, bytes, rounds, gotSent, reach, sent)
			}
			for _, ceiling := range []float64{0, s.MSS, 64 << 10, 625e3} {
				deliver := 0.0
				for window, left := initial*s.MSS, bytes; left > 0; deliver++ {
					if ceiling > 0 {
						window = min(window, ceiling)
					}
					left -= window
					window *= 2
				}
				if got := s.ToDeliver(bytes, ceiling); got != deliver {
					t.Errorf("%+v to deliver %v B under %v: %v rounds, want %v", s, bytes, ceiling, got, deliver)
				}
			}
		}
	}
}

func TestTransferTime(t *testing.T) {
	ss := SlowStart{MSS: 1448}
	share := Overhead{MTU: 1500, Framing: EthernetFraming, Headers: 52}.PayloadShare()
	cases := map[string]struct {
		in   Transfer
		want Phases
	}{
		"50 MB over 100 Mbit/s Ethernet and 50 ms": {
			Transfer{Bytes: 50e6, Rate: 100e6 * share, RTT: 50 * ms, SlowStart: ss},
			Phases{Rounds: 6, SlowStartBytes: 63 * 14480, SlowStart: 300 * ms, SteadyRate: 100e6 * share,
				SteadyBytes: 50e6 - 63*14480, Steady: Seconds((50e6 - 63*14480) * 8 / (100e6 * share)), Last: 50 * ms,
				Total: Seconds(0.35 + (50e6-63*14480)*8/(100e6*share))},
		},
		"the same with a window of 64 KiB": { // 10.5 Mbit/s; 762 whole windows and what is left of the 763rd
			Transfer{Bytes: 50e6, Rate: 100e6, RTT: 50 * ms, Window: 65536, SlowStart: ss},
			Phases{Rounds: 3, SlowStartBytes: 7 * 14480, SlowStart: 150 * ms, SteadyRate: 65536 * 8 / 0.05,
				SteadyBytes: 761 * 65536, Steady: 761 * 50 * ms, LastBytes: 50e6 - 7*14480 - 761*65536,
				Last: 50*ms + Seconds((50e6-7*14480-761*65536)*8/100e6), Total: 38200*ms + Seconds((50e6-7*14480-761*65536)*8/100e6+0.05)},
		},
		"three rounds, nothing in the way": {
			Transfer{Bytes: 100e3, RTT: 40 * ms, SlowStart: ss},
			Phases{Rounds: 2, SlowStartBytes: 43440, SlowStart: 80 * ms, LastBytes: 56560, Last: 40 * ms, Total: 120 * ms},
		},
		"one packet": {
			Transfer{Bytes: 1, Rate: 8e6, RTT: 40 * ms, SlowStart: ss},
			Phases{SteadyRate: 8e6, SteadyBytes: 1, Steady: time.Microsecond, Last: 40 * ms, Total: 40*ms + time.Microsecond},
		},
	}
	for name, c := range cases {
		got := TransferTime(c.in)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(1e-12, 0), approxDuration); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		near(t, name+": bytes of all phases", got.SlowStartBytes+got.SteadyBytes+got.LastBytes, c.in.Bytes, 1e-12)
	}
}

// approxDuration takes durations for equal that differ by rounding to nanoseconds.
var approxDuration = cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= 3 })

func TestTransferTimeEndsAtTheLongestDuration(t *testing.T) {
	got := TransferTime(Transfer{Bytes: 9e18, Rate: 1, RTT: ms, SlowStart: SlowStart{MSS: 1448}})
	if got.Total != math.MaxInt64 {
		t.Errorf("9 EB at 1 bit/s: %d ns, want the longest Duration", got.Total)
	}
}

// Without a rate, a transfer is a number of round trips: the same that SlowStart counts.
func TestTransferTimeAgreesWithSlowStart(t *testing.T) {
	ss := SlowStart{MSS: 1448}
	for _, bytes := range []float64{1, 14480, 14481, 43440, 43441, 100e3, 1e6, 1e9} {
		for _, window := range []float64{0, 10000, 65536, 1 << 20} {
			got := TransferTime(Transfer{Bytes: bytes, RTT: ms, Window: window, SlowStart: ss})
			if want := time.Duration(ss.ToDeliver(bytes, window)) * ms; got.Total != want {
				t.Errorf("%v B with window %v: %v, want %v", bytes, window, got.Total, want)
			}
		}
	}
}

// What a real kernel took over an emulated 50 Mbit/s (of IP packets) and 40 ms: 0.1, 1 and 10 MB, one run each.
func TestTransferTimeIsNearMeasurement(t *testing.T) {
	ip := Overhead{MTU: 1500, Headers: IPv4Header + TCPHeader + TCPTimestamps}
	for bytes, measured := range map[float64]float64{100e3: 0.135, 1e6: 0.381, 10e6: 1.837} {
		got := TransferTime(Transfer{Bytes: bytes, Rate: 50e6 * ip.PayloadShare(), RTT: 40 * ms, SlowStart: SlowStart{MSS: 1448}})
		near(t, "seconds", got.Total.Seconds(), measured, 0.15)
	}
}

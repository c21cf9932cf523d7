package peertest

import (
	"encoding/hex"
	"testing"
	"time"
)

// The sums of the first million deviates of two SIDs, of the four of the RFC's appendix: two are enough to tell, and take half the time.
func TestExponential(t *testing.T) {
	for sid, want := range map[string]Timestamp{
		"2872979303ab47eeac028dab3829dab2": 0x000f4479bd317381,
		"feed0feed1feed2feed3feed4feed5ab": 0x000f3f0b4b416ec8,
	} {
		t.Run(sid, func(t *testing.T) {
			t.Parallel()
			seed, err := hex.DecodeString(sid)
			if err != nil {
				t.Fatal(err)
			}
			deviates, sum := NewExponential([16]byte(seed)), Timestamp(0)
			for range 1_000_000 {
				sum += deviates.Next()
			}
			if sum != want {
				t.Errorf("the sum of a million deviates is %#016x, want %#016x", sum, want)
			}
		})
	}
}

func TestTimestamp(t *testing.T) {
	for _, want := range []time.Time{time.Unix(0, 0), time.Unix(1700000000, 999999999), time.Unix(1700000000, 500000000)} {
		if got := Stamp(want).Time(); want.Sub(got).Abs() > time.Nanosecond {
			t.Errorf("%v comes back as %v", want, got)
		}
	}
	if got := Interval(1500 * time.Millisecond); got != 3<<31 || got.Duration() != 1500*time.Millisecond {
		t.Errorf("1.5 s is %#x, %v", got, got.Duration())
	}
}

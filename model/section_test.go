package model

import (
	"math/rand/v2"
	"testing"
	"time"
)

// 10 Mbit/s over 40 ms in packets of 1,448 bytes, as the library's fault loss-budget-exceeded has it: 35 packets, 3,675 from loss to loss.
func TestTargetRunLength(t *testing.T) {
	near(t, "run length", TargetRunLength(10e6, 40*ms, 1448), 3675, 1e-12)
	near(t, "longest round trip", TargetRTT(10e6, 3675, 1448).Seconds(), 35*1448*8/10e6, 1e-9)
	if got := TargetRunLength(1e6, time.Millisecond, 1448); got != 3 {
		t.Errorf("a window of a part of a packet: %v, want 3", got)
	}
}

// Without a loss, about 0.98 run lengths pass; three losses at the start fail, and two do not yet.
func TestRunLengthTest(t *testing.T) {
	const run = 10000
	test := NewRunLengthTest(run)
	near(t, "enough without a loss", test.Enough(0)/run, 0.98, 0.01)
	for _, c := range []struct {
		packets, losses float64
		want            Verdict
	}{
		{0, 0, Untold}, {9000, 0, Untold}, {9900, 0, Passes}, {9900, 1, Untold}, {test.Enough(1), 1, Passes},
		{10, 2, Untold}, {10, 3, Fails}, {50000, 13, Fails}, {50000, 8, Passes}, {50000, 10, Untold},
	} {
		if got := test.Judge(c.packets, c.losses); got != c.want {
			t.Errorf("%v losses of %v: %v, want %v", c.losses, c.packets, got, c.want)
		}
	}
}

// Of paths that lose one packet in a run length, and of those that lose four, it is wrong about no more than one in twenty.
func TestRunLengthTestIsSeldomWrong(t *testing.T) {
	const run, paths = 500, 2000
	random := rand.New(rand.NewPCG(1, 2))
	test := NewRunLengthTest(run)
	for _, c := range []struct {
		share float64
		wrong Verdict
	}{{1.0 / run, Fails}, {4.0 / run, Passes}} {
		wrong := 0
		for range paths {
			packets, losses, verdict := 0.0, 0.0, Untold
			for verdict == Untold {
				packets++
				if random.Float64() < c.share {
					losses++
				}
				verdict = test.Judge(packets, losses)
			}
			if verdict == c.wrong {
				wrong++
			}
		}
		if share := float64(wrong) / paths; share > mistake*1.2 {
			t.Errorf("a loss of %v: wrong in %.3f of the cases", c.share, share)
		}
	}
}

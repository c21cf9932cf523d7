package model

import (
	"math"
	"time"
)

// TargetRunLength returns how many packets must pass from one loss to the next on every part of a path that is to carry a rate (bit/s)
// over a round trip in packets of that many bytes of payload: 3 W^2, where W is the window in packets, rounded up.
//
// Source: RFC 8337 section 5.2 (target_run_length).
func TargetRunLength(rate float64, rtt time.Duration, mss float64) float64 {
	window := math.Ceil(BandwidthDelay(rate, rtt) / mss)
	return 3 * window * window
}

// TargetRTT returns the longest round trip over which a path whose losses are that many packets apart carries a rate (bit/s):
// TargetRunLength solved for the round trip, without its rounding.
func TargetRTT(rate, runLength, mss float64) time.Duration {
	return Seconds(math.Sqrt(runLength/3) * mss * 8 / rate)
}

// Verdict is what a test says of a hypothesis.
type Verdict int

const (
	Untold Verdict = iota // more packets would tell
	Passes
	Fails
)

// RunLengthTest decides by as few packets as that takes whether a path loses one packet in a run length, or four times as many: a
// sequential probability ratio test, wrong in one case of twenty either way.
//
//	losses |         fails   _/
//	       |              _/     _/
//	       |           _/     _/
//	       |        _/     _/    passes
//	       +-----------------------------> packets
//
// Source: RFC 8337 section 7.2, appendix A; Wald, Sequential Tests of Statistical Hypotheses, 1945.
type RunLengthTest struct {
	slope  float64 // of both lines, in losses a packet
	margin float64 // in losses, above and below the line through zero
}

const (
	worse   = 4.0  // times the losses of a path that passes: one that fails for certain
	mistake = 0.05 // the chance of either mistake
)

// NewRunLengthTest returns the test for a run length in packets, which must be above worse.
func NewRunLengthTest(runLength float64) RunLengthTest {
	p0, p1 := 1/runLength, worse/runLength
	k := math.Log(p1 * (1 - p0) / (p0 * (1 - p1)))
	return RunLengthTest{slope: math.Log((1-p0)/(1-p1)) / k, margin: math.Log((1-mistake)/mistake) / k}
}

// Judge says what that many losses among that many packets tell.
func (t RunLengthTest) Judge(packets, losses float64) Verdict {
	switch line := t.slope * packets; {
	case losses <= line-t.margin:
		return Passes
	case losses >= line+t.margin:
		return Fails
	}
	return Untold
}

// Enough returns how many packets make the test pass if no more than that many are lost.
func (t RunLengthTest) Enough(losses float64) float64 { return (losses + t.margin) / t.slope }

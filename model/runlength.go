package model

import "math"

// RunLengthTest is the sequential test of RFC 8337 section 7.2 of whether a path loses no more than one packet in a target run
// length. It decides as early as the evidence allows:
//
//	losses
//	  |      fail     . '        h2 + s n
//	  |           . '
//	h2|       . '  undecided . '
//	  |   . '            . '     s n - h1
//	  |              . '   pass
//	  +----------.'----------------- packets n
//	            h1/s
type RunLengthTest struct {
	H1, H2 float64 // distances of the lines of acceptance and rejection from s n, in losses
	S      float64 // slope of both, losses a packet
}

// Outcome is what a RunLengthTest says so far.
type Outcome int

const (
	Undecided Outcome = iota // send more packets
	Pass                     // losses are within the target
	Fail                     // losses are at least four times the target
)

func (o Outcome) String() string {
	return [...]string{"undecided", "pass", "fail"}[o]
}

// The test's parameters, as RFC 8337 section 7.2 suggests them.
const (
	failFactor = 4.0  // fails for sure a path that loses this many times what the target allows
	errorRisk  = 0.05 // of passing a path that should fail, and of failing one that should pass
)

// NewRunLengthTest returns the test for a target run length, which must be over 4 packets: below, four times the target's loss
// would be every packet, and the outcome is always Undecided.
func NewRunLengthTest(targetRunLength float64) RunLengthTest {
	p0 := 1 / targetRunLength
	p1 := failFactor / targetRunLength
	if !(p1 < 1) {
		return RunLengthTest{H1: math.Inf(1), H2: math.Inf(1)}
	}
	keep0, keep1 := math.Log1p(-p0), math.Log1p(-p1) // logarithms of the chance that a packet survives
	k := math.Log(failFactor) + keep0 - keep1
	h := math.Log((1-errorRisk)/errorRisk) / k // h1 and h2 are the same where both risks are
	return RunLengthTest{H1: h, H2: h, S: (keep0 - keep1) / k}
}

// Decide says what losses of that many packets sent mean.
func (t RunLengthTest) Decide(packets, losses float64) Outcome {
	switch expected := t.S * packets; {
	case losses <= expected-t.H1:
		return Pass
	case losses >= expected+t.H2:
		return Fail
	}
	return Undecided
}

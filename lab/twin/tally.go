package twin

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// tally counts what was sent, lost, and lost in a row.
type tally struct{ sent, lost, runs int }

func (c tally) ratio() float64 { return float64(c.lost) / float64(max(1, c.sent)) }

// surelyBursty is the probability below which so few runs of lost packets are not taken for chance.
const surelyBursty = 0.01

// bursty reports whether the losses come in fewer runs than independent ones would.
func (c tally) bursty() bool { return c.lost > 1 && fewRuns(c) < surelyBursty }

// fewRuns returns the probability that as many losses, each arrangement among the packets being as likely, come in as
// few runs as these or fewer. There are C(lost-1, k-1) ways to cut the losses into k runs and C(kept+1, k) places for
// them (A. Wald and J. Wolfowitz, "On a Test Whether Two Samples are from the Same Population", 1940).
func fewRuns(c tally) float64 {
	kept, p := c.sent-c.lost, 0.0
	all := logChoose(c.sent, c.lost)
	for k := 1; k <= c.runs; k++ {
		p += math.Exp(logChoose(c.lost-1, k-1) + logChoose(kept+1, k) - all)
	}
	return min(1, p)
}

func logChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// burst is how many are lost in a row on average, or 1 if they may be lost each by itself.
func (c tally) burst() float64 {
	if !c.bursty() {
		return 1
	}
	return float64(c.lost) / float64(c.runs)
}

// burstFactor is by how much the variance of the count of losses exceeds that of independent ones, when runs are
// geometric of the observed mean: (1+c)/(1-c) for a two-state chain with autocorrelation c.
func (c tally) burstFactor() float64 {
	if !c.bursty() {
		return 1
	}
	correlation := max(0, 1-1/c.burst()-c.ratio())
	return (1 + correlation) / (1 - correlation)
}

// echoLosses counts over the echoes of pings. Runs do not go from one Result into the next.
func echoLosses(pings []*measure.Result) tally {
	var c tally
	for _, r := range pings {
		lost := make([]bool, len(r.Samples.Echoes))
		for i, s := range r.Samples.Echoes {
			lost[i] = s.RTTSeconds == nil
		}
		for _, run := range stat.LossRuns(lost) {
			c.lost += run
			c.runs++
		}
		c.sent += len(lost)
	}
	return c
}

// refute reports whether so few of the packets are hardly lost where each is lost with that probability. Bursts make the
// packets tell as much as fewer by that factor.
func (c tally) refute(ratio, factor float64) bool {
	const most = 1e6 // packets; more tell no more, and take long to reckon with
	n := int(min(most, float64(c.sent)/factor))
	lo, _ := stat.BinomialInterval(n, min(1, ratio), confidence)
	return c.ratio()*float64(n) < float64(lo)
}

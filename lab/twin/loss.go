package twin

import (
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
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

// addLoss gives each way its part of what echoes lost.
func (e *evidence) addLoss(l *Link, b bottleneck) {
	c := echoLosses(e.pings)
	ways := [2]wayLoss{e.lossOfWay(false, b.forward.rate, c), e.lossOfWay(true, b.reverse.rate, c)}
	forward, reverse, why := divideLoss(c.ratio(), ways)
	switch {
	case forward == 0 && reverse == 0 && c.sent > 0:
		// The rule of three: with none of n lost, 95 % confidence ends at 3/n.
		l.note("loss: none of %d echoes, so less than %s with 95 %% confidence", c.sent,
			quantity.FormatRatio(min(1, 3/float64(c.sent))))
	case forward == 0 && reverse == 0:
		l.Notes = append(l.Notes, "loss: none; assumed, nothing counted it apart from drops in front of the link")
	case c.lost > 0:
		l.note("loss: %d of %d echoes (%s), runs of losses: %d; %s", c.lost, c.sent,
			quantity.FormatRatio(c.ratio()), c.runs, why)
	default:
		l.Notes = append(l.Notes, "loss: "+why)
	}
	l.Notes = append(l.Notes, slices.Concat(ways[0].notes, ways[1].notes)...)
	if forward == 0 && reverse == 0 {
		return
	}
	burst := c.burst()
	switch {
	case c.lost < 2:
		l.note("  each by itself: assumed, too few echoes were lost to see runs")
	case burst > 1:
		l.note("  in bursts of %.3g (Gilbert): so few runs come by chance with probability %.2g",
			burst, fewRuns(c))
	default:
		l.note("  each by itself: so few runs or fewer come by chance with probability %.2g", fewRuns(c))
	}
	l.Forward.Loss, l.Reverse.Loss = lossModel(forward, burst), lossModel(reverse, burst)
}

// lossModel returns nil for no loss.
func lossModel(ratio, burst float64) *chance.Loss {
	ratio = round(min(1, ratio), 4)
	switch {
	case ratio <= 0:
		return nil
	case burst > 1 && ratio < burst/(burst+1):
		return &chance.Loss{Gilbert: &chance.Gilbert{Ratio: notation.Ratio(ratio), Burst: round(burst, 3)}}
	}
	return chance.Independent(ratio)
}

// addDuplicates gives the way there what came back more than once: an echo that is doubled there is answered twice.
func (e *evidence) addDuplicates(l *Link) {
	duplicates, came := 0.0, 0.0
	for _, r := range e.pings {
		duplicates += r.Metrics[measure.DuplicatePackets]
		came += r.Metrics[measure.ReceivedPackets]
	}
	if duplicates == 0 || came == 0 {
		return
	}
	l.Forward.Duplicate = &chance.Share{Ratio: notation.Ratio(round(min(1, duplicates/came), 4))}
	l.note("duplicate: %.0f of %.0f echoes came back again; assumed to be doubled on the way there",
		duplicates, came)
}

// round keeps so many significant figures.
func round(v float64, figures int) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow10(figures - 1 - int(math.Floor(math.Log10(math.Abs(v)))))
	return math.Round(v*scale) / scale
}

package twin

import (
	"fmt"
	"math"

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

// burstFactor is by how much the variance of the count of losses exceeds that of independent ones, when runs are
// geometric of the observed mean: (1+c)/(1-c) for a two-state chain with autocorrelation c.
func (c tally) burstFactor() float64 {
	if !c.bursty() {
		return 1
	}
	mean := float64(c.lost) / float64(c.runs)
	correlation := max(0, 1-1/mean-c.ratio())
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
	ratio := c.ratio()
	forward, reverse, why := e.lossByWay(ratio, c.sent > 0)
	switch {
	case forward == 0 && reverse == 0 && c.sent > 0:
		// The rule of three: with none of n lost, 95 % confidence ends at 3/n.
		l.note("loss: none of %d echoes, so less than %s with 95 %% confidence", c.sent,
			quantity.FormatRatio(min(1, 3/float64(c.sent))))
		return
	case forward == 0 && reverse == 0:
		l.Notes = append(l.Notes, "loss: none; assumed, nothing counted it apart from drops in front of the link")
		return
	}
	if c.lost > 0 {
		l.note("loss: %d of %d echoes (%s), runs of losses: %d; %s", c.lost, c.sent,
			quantity.FormatRatio(ratio), c.runs, why)
	} else {
		l.Notes = append(l.Notes, "loss: "+why)
	}
	burst := 1.0
	switch {
	case c.lost < 2:
		l.note("  each by itself: assumed, too few echoes were lost to see runs")
	case c.bursty():
		burst = float64(c.lost) / float64(c.runs)
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

// lossByWay divides the loss of the round trip. Where one way's own is known, the other has the rest; where TCP
// filled a link, its repetitions say what a way loses at most; else it is divided evenly.
func (e *evidence) lossByWay(both float64, counted bool) (forward, reverse float64, why string) {
	f, fromF := e.oneWayLoss(false)
	r, fromR := e.oneWayLoss(true)
	rest := func(one float64) float64 {
		if one >= 1 {
			return 0
		}
		return max(0, 1-(1-both)/(1-one))
	}
	switch {
	case fromF != "" && fromR != "":
		return f, r, fmt.Sprintf("%s forward (%s), %s in reverse (%s)", quantity.FormatRatio(f), fromF,
			quantity.FormatRatio(r), fromR)
	case fromF != "":
		return f, rest(f), fmt.Sprintf("%s forward (%s), the rest in reverse", quantity.FormatRatio(f), fromF)
	case fromR != "":
		return rest(r), r, fmt.Sprintf("%s in reverse (%s), the rest forward", quantity.FormatRatio(r), fromR)
	case !counted || both == 0:
		return 0, 0, ""
	}
	f, haveF := e.repeated(false)
	r, haveR := e.repeated(true)
	switch {
	case haveF && haveR && f+r > 0:
		forward = 1 - math.Pow(1-both, f/(f+r))
		return forward, rest(forward), fmt.Sprintf("divided as TCP had to repeat (%s forward, %s in reverse)",
			quantity.FormatRatio(f), quantity.FormatRatio(r))
	case haveF:
		forward = min(both, f)
		return forward, rest(forward), fmt.Sprintf("forward as far as TCP had to repeat there (%s), the rest in reverse",
			quantity.FormatRatio(f))
	case haveR:
		reverse = min(both, r)
		return rest(reverse), reverse, fmt.Sprintf("in reverse as far as TCP had to repeat there (%s), the rest forward",
			quantity.FormatRatio(r))
	}
	forward = 1 - math.Sqrt(1-both)
	return forward, forward, "divided evenly: assumed, nothing tells which way"
}

// oneWayLoss is what one way loses by itself, and who counted it: datagrams, or TCP's repetitions where the flow never
// filled the link, so that nothing was dropped in front of it. "" if nobody did.
func (e *evidence) oneWayLoss(reverse bool) (ratio float64, by string) {
	if ratio, ok := e.datagramLoss(reverse); ok {
		return ratio, "datagrams lost"
	}
	for _, r := range e.transfers {
		if reversed(r) == reverse && view(r).saturated(e.usualExtra()) {
			return 0, ""
		}
	}
	if ratio, ok := e.repeated(reverse); ok {
		return ratio, "TCP, which filled no link, had to repeat"
	}
	return 0, ""
}

// datagramLoss is what UDP lost one way, below the rate of the narrowest link.
func (e *evidence) datagramLoss(reverse bool) (float64, bool) {
	sent, lost := 0.0, 0.0
	for _, r := range e.datagrams {
		if reversed(r) == reverse && !bidirectional(r) && e.unhurried(r) {
			sent += r.Metrics[measure.SentPackets]
			lost += r.Metrics[measure.LostPackets]
		}
	}
	if sent == 0 {
		return 0, false
	}
	return lost / sent, true
}

func bidirectional(r *measure.Result) bool { v, _ := r.Parameters["bidir"].(bool); return v }

// repeated is the share of bytes that TCP sent again one way.
func (e *evidence) repeated(reverse bool) (float64, bool) {
	sent, again := 0.0, 0.0
	for _, r := range e.transfers {
		s, have := r.Get(measure.SentBytes)
		a, alsoHave := r.Get(measure.RetransmittedBytes)
		if reversed(r) == reverse && !bidirectional(r) && have && alsoHave {
			sent, again = sent+s+a, again+a
		}
	}
	if sent == 0 {
		return 0, false
	}
	return again / sent, true
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

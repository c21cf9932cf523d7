package twin

import (
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

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

// lossModel returns a model that loses this share of packets, in bursts of this mean length; nil: nothing is lost.
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

// round rounds a value to so many significant figures.
func round(v float64, figures int) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow10(figures - 1 - int(math.Floor(math.Log10(math.Abs(v)))))
	return math.Round(v*scale) / scale
}

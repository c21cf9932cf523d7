package screen

import (
	"errors"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/queue"
)

// ladder is the steps of a decade: each about half as much again as the one before, and a number that people write.
var ladder = []float64{1, 1.5, 2, 3, 5, 7}

// rung returns the next rung of the ladder above or below a positive value.
func rung(v float64, up bool) float64 {
	const same = 1e-9 // of the value: what decimal fractions lose in binary
	decade := int(math.Floor(math.Log10(v)))
	best := v
	for e := decade - 1; e <= decade+1; e++ {
		for _, of := range ladder {
			r := of * math.Pow10(max(e, 0)) / math.Pow10(max(-e, 0)) // exact where a decimal fraction can be
			switch {
			case up && r > v*(1+same):
				return r
			case !up && r < v*(1-same):
				best = r
			}
		}
	}
	return best
}

// Where steps from nothing begin, and where those down end: below, a change is hard to see.
const (
	leastDelay  = 100e-6 // seconds
	leastLoss   = 0.01   // percent
	lowestRate  = 1e3    // bit/s
	highestRate = 1e12
	firstRate   = 1e9 // of a link that had no limit
)

func stepDelay(s link.Shape, up bool) string {
	seconds := 0.0
	if s.Delay != nil {
		seconds = time.Duration(*s.Delay).Seconds()
	}
	seconds = min(stepFromNothing(seconds, leastDelay, up), time.Hour.Seconds())
	return "delay=" + lab.Delay(math.Round(seconds*1e9)).String()
}

func stepLoss(s link.Shape, up bool) (string, error) {
	percent := 0.0 // as people write it
	switch {
	case s.Loss != nil && !s.Loss.Plain():
		return "", errors.New("the loss is no plain ratio; e sets it")
	case s.Loss != nil && s.Loss.Ratio != nil:
		percent = 100 * float64(*s.Loss.Ratio)
	}
	return "loss=" + lab.Ratio(min(100, stepFromNothing(percent, leastLoss, up))/100).String(), nil
}

// stepFromNothing is rung for what may be 0, with nothing between 0 and the least.
func stepFromNothing(v, least float64, up bool) float64 {
	switch {
	case up && v < least:
		return least
	case !up && v <= least:
		return 0
	}
	return rung(v, up)
}

func stepRate(s link.Shape, up bool) (string, error) {
	switch {
	case s.Rate == nil && s.Trace != nil:
		return "", errors.New("a trace gives the rate; e sets another")
	case s.Rate == nil && up:
		return "", errors.New("the rate has no limit")
	case s.Rate == nil:
		return "rate=" + lab.Rate(firstRate).String(), nil
	}
	return "rate=" + lab.Rate(min(max(rung(float64(*s.Rate), up), lowestRate), highestRate)).String(), nil
}

// stepQueue changes what may wait and keeps the rest of the queue as it is. What waits by default is said first.
func stepQueue(s link.Shape, up bool) (string, error) {
	var c queue.Config
	if s.Queue != nil {
		c = *s.Queue
	}
	l := &c.Limit
	switch {
	case len(c.Classes) > 0:
		return "", errors.New("the queue has classes, each with a limit; e sets them")
	case l.Packets > 0:
		l.Packets = int(max(1, math.Round(rung(float64(l.Packets), up))))
	case l.Bytes > 0:
		l.Bytes = int64(max(1500, math.Round(rung(float64(l.Bytes), up)))) // no less than a packet
	default:
		milliseconds := 100.0 // the default
		if l.Time > 0 {
			milliseconds = float64(l.Time) / 1e6
		}
		*l = queue.Amount{}
		l.Time = spanOf(max(1, rung(milliseconds, up)))
	}
	return "queue=" + c.String(), nil
}

func spanOf(milliseconds float64) notation.Span { return notation.Span(math.Round(milliseconds * 1e6)) }

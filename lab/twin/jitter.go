package twin

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

const (
	// fewestEchoes are what a distribution is made of at least: below, 5 % of them are less than one.
	fewestEchoes = 20
	// leastJitter is what hosts and the emulator add by themselves; a path that varies less is taken for steady.
	leastJitter = 100e-6
	// mostQuantiles keeps the table readable: one for each half percent.
	mostQuantiles = 200
	// leastCorrelation is from where on it is taken over; the order that links keep makes less than that by itself.
	leastCorrelation = 0.2
)

// addJitter gives the link the spread of the echoes' round trips above the least of them.
func (e *evidence) addJitter(l *Link) {
	extra := e.extras()
	s := stat.Summarize(extra)
	switch {
	case s.N < fewestEchoes && s.N > 0:
		l.note("jitter: none; %d round trips are too few to tell (want %d)", s.N, fewestEchoes)
		return
	case s.N == 0:
		return
	case s.P95 < leastJitter:
		l.note("jitter: none; 95 %% of %d round trips are within %s of the least, as hosts add themselves",
			s.N, quantity.FormatSeconds(s.P95))
		return
	}
	correlation := notation.Ratio(0)
	if c := scoreCorrelation(extra); c >= leastCorrelation {
		correlation = notation.Ratio(math.Round(c*100) / 100)
	}
	overtake := e.reordered() > 0
	jitter := func(table []notation.Delay) *chance.Jitter {
		return &chance.Jitter{Table: table, Correlation: correlation, Overtake: overtake}
	}
	note := fmt.Sprintf("jitter: how much %d round trips exceed the least of them (median %s, 95 %% within %s)", s.N,
		quantity.FormatSeconds(s.Median), quantity.FormatSeconds(s.P95))
	switch side, why := e.jitterSide(extra); side {
	case measure.Forward:
		l.Forward.Jitter = jitter(quantiles(extra))
		l.Notes = append(l.Notes, note+"; "+why)
	case measure.Reverse:
		l.Reverse.Jitter = jitter(quantiles(extra))
		l.Notes = append(l.Notes, note+"; "+why)
	default:
		l.Shape.Jitter = jitter(quantiles(halves(extra)))
		l.note("%s,", note)
		l.note("  divided so that two independent ways add up to it: assumed, there is no one-way figure")
	}
	if overtake {
		l.note("  with overtaking: %d echoes came back out of order", e.reordered())
	}
}

// jitterSide compares what datagrams saw one way with what echoes saw both ways, each as the mean difference of
// neighbours: one way that has all of it, or hardly any, is told from two that share it. With equal shares of
// variance one way has 0.71 of the round trip's mean difference.
func (e *evidence) jitterSide(extra []float64) (side, why string) {
	const nearlyAll, hardlyAny = 0.85, 0.3
	both := 0.0
	for i := 1; i < len(extra); i++ {
		both += math.Abs(extra[i]-extra[i-1]) / float64(len(extra)-1)
	}
	if both == 0 {
		return "", ""
	}
	for _, r := range e.datagrams {
		one, ok := r.Get(measure.Jitter)
		if !ok || !e.unhurried(r) {
			continue
		}
		way, other := measure.Forward, measure.Reverse
		if reversed(r) {
			way, other = other, way
		}
		switch share := one / both; {
		case share >= nearlyAll:
			return way, fmt.Sprintf("all of it %s, where datagrams varied as much (%s)", way, cite(r, measure.Jitter, one))
		case share <= hardlyAny:
			return other, fmt.Sprintf("all of it %s, for datagrams hardly varied %s (%s)", other, way,
				cite(r, measure.Jitter, one))
		}
	}
	return "", ""
}

func reversed(r *measure.Result) bool { return r.Parameters["reverse"] == true }

// quantiles returns a table of the values. The last entry is no maximum, which would make a tail of one outlier, but
// what keeps the mean of the part above the one before it.
func quantiles(values []float64) []notation.Delay {
	sorted := slices.Sorted(slices.Values(values))
	n := min(mostQuantiles, len(sorted)-1)
	table := make([]notation.Delay, n+1)
	for i := range n {
		table[i] = micro(sorted[i*(len(sorted)-1)/n])
	}
	tail := sorted[(n-1)*(len(sorted)-1)/n:]
	last := 2*stat.Summarize(tail).Mean - tail[0]
	table[n] = max(table[n-1], micro(last))
	return table
}

func micro(seconds float64) notation.Delay {
	return notation.Delay(time.Duration(math.Round(seconds*1e6)) * time.Microsecond)
}

// scoreCorrelation is the autocorrelation at lag 1 of the values' normal scores, which is what chance.Jitter takes.
func scoreCorrelation(values []float64) float64 {
	n := len(values)
	if n < fewestEchoes {
		return 0
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	scores := make([]float64, n)
	for rank, i := range order {
		scores[i] = math.Sqrt2 * math.Erfinv(2*(float64(rank)+0.5)/float64(n)-1)
	}
	products, squares := 0.0, 0.0
	for i := range scores {
		squares += scores[i] * scores[i]
		if i > 0 {
			products += scores[i] * scores[i-1]
		}
	}
	return products / squares
}

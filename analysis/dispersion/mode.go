package dispersion

import (
	"slices"
	"sort"
)

// modeWidth is how far values of a mode are apart, as a ratio: half of it is within what a capacity may be off.
const modeWidth = 1.05

// Mode is a value around which many are.
type Mode struct {
	Value float64
	Share float64 // of all values
}

// modes are where values gather, the strongest first: each is the median of those within modeWidth, which no other has. Shares below a twentieth are
// left out.
func modes(values []float64) (all []Mode) {
	values = slices.Sorted(slices.Values(values))
	total := float64(len(values))
	for len(values) > 0 {
		from, to := densest(values)
		if share := float64(to-from) / total; share < 0.05 {
			break
		} else {
			all = append(all, Mode{values[(from+to)/2], share})
		}
		values = slices.Delete(values, from, to)
	}
	return all
}

// densest is the stretch of sorted values, all within modeWidth of each other, that has the most.
func densest(values []float64) (from, to int) {
	for i := range values {
		end := i + sort.Search(len(values)-i, func(k int) bool { return values[i+k] > values[i]*modeWidth })
		if end-i > to-from {
			from, to = i, end
		}
	}
	return from, to
}

// modePart is the share of all values by which a mode is found where what they are late by is not known: other traffic may be in four of five gaps.
const (
	modePart  = 0.2
	leastPart = 5 // values
)

// peak is where sorted values are closest together: the median of the shortest stretch that holds modePart of them, and how wide that is, as a share.
func peak(values []float64) (at, wide float64, inside int) {
	inside = min(len(values), max(leastPart, int(modePart*float64(len(values)))))
	best := 0
	for i := range len(values) - inside + 1 {
		if values[i+inside-1]-values[i] < values[best+inside-1]-values[best] {
			best = i
		}
	}
	at = values[best+inside/2]
	return at, (values[best+inside-1] - values[best]) / at, inside
}

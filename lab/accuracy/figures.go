package accuracy

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/stat"
)

// Share is how many of so many, and the 95 % interval of the ratio after Wilson.
type Share struct {
	Of   int     `json:"of"`
	Hit  int     `json:"hit"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// shareIn counts what holds of some outcomes.
func shareIn(all []*Outcome, holds func(*Outcome) bool) (s Share) {
	for _, o := range all {
		if s.Of++; holds(o) {
			s.Hit++
		}
	}
	s.Low, s.High = stat.Wilson(s.Hit, s.Of)
	return s
}

// Ratio is the share as a number; 0 of nothing.
func (s Share) Ratio() float64 { return float64(s.Hit) / float64(max(1, s.Of)) }

// FiguresSchema names the JSON layout of Figures.
const FiguresSchema = "pathwise.accuracy/1"

// Figures are what all outcomes come to.
type Figures struct {
	Schema     string        `json:"schema"`
	States     map[State]int `json:"states"`
	Right      Share         `json:"right"`       // of faults that bind: the verdict
	Three      Share         `json:"first_three"` // of them
	None       Share         `json:"none"`        // of them: unknown or unexplained
	Problems   Share         `json:"healthy_problems"`
	Both       Share         `json:"both_named"`  // of two faults at once
	Predicted  Share         `json:"predictions"` // within mostOff
	LooseWrong Share         `json:"loose_problems"`
	Seconds    float64       `json:"mean_seconds"` // of a diagnosis
	Busy       float64       `json:"mean_busy_ratio"`
	Causes     []Row         `json:"causes"`
	Strata     []Row         `json:"strata"` // faults that bind, worst first
	Mimics     []MimicRow    `json:"mimics"`
	Sure       []SureRow     `json:"reliability"`
	Wrong      []Outcome     `json:"wrong"` // that count, and are not right
}

// Row is what came of one cause, or of one stratum.
type Row struct {
	Name     string         `json:"name"`
	Sort     Sort           `json:"sort"`
	Right    Share          `json:"right"`
	Three    Share          `json:"first_three"`
	Left     int            `json:"left_out"` // that do not bind, or could not be played
	Verdicts map[string]int `json:"verdicts"`
}

// MimicRow is how well two causes that look alike are told apart.
type MimicRow struct {
	Pair  [2]string `json:"pair"`
	Apart Share     `json:"apart"` // of runs of either: not called the other
	Right Share     `json:"right"`
}

// SureRow is how often verdicts of a confidence are right.
type SureRow struct {
	From  float64 `json:"from"` // up to the next row's
	Right Share   `json:"right"`
}

// mostOff is how far a prediction may be from what is reached, as a share of that.
const mostOff = 0.15

// sureBins are where bins of confidence begin.
var sureBins = []float64{0, 0.5, 0.6, 0.7, 0.8, 0.9}

// Count makes figures of outcomes.
func Count(outcomes []Outcome) *Figures {
	f := &Figures{Schema: FiguresSchema, States: map[State]int{}}
	var faults, healthy, both, loose, predicted []*Outcome
	var seconds, busy float64
	diagnosed := 0
	for i := range outcomes {
		o := &outcomes[i]
		if f.States[o.State]++; o.State != Broken {
			diagnosed++
			seconds, busy = seconds+o.Seconds, busy+o.Busy
		}
		switch {
		case o.State == Loose:
			loose = append(loose, o)
		case o.State != Counts:
		case o.Sample.Sort == Healthy:
			healthy = append(healthy, o)
		case o.Sample.Sort == Two:
			both = append(both, o)
		default:
			faults = append(faults, o)
		}
		if o.State == Counts && !o.Right() {
			f.Wrong = append(f.Wrong, *o)
		}
		if o.State == Counts && o.Off != nil {
			predicted = append(predicted, o)
		}
	}
	f.Seconds, f.Busy = seconds/float64(max(1, diagnosed)), busy/float64(max(1, diagnosed))
	f.Right, f.Three = shareIn(faults, (*Outcome).Right), shareIn(faults, func(o *Outcome) bool { return o.Three })
	f.None, f.Both = shareIn(faults, (*Outcome).None), shareIn(both, (*Outcome).Right)
	f.Problems = shareIn(healthy, func(o *Outcome) bool { return o.Problem })
	f.LooseWrong = shareIn(loose, func(o *Outcome) bool { return o.Problem && !o.First })
	f.Predicted = shareIn(predicted, func(o *Outcome) bool { return *o.Off <= mostOff })
	f.Causes = rows(outcomes, func(o *Outcome) string { return o.Sample.Cause })
	single := slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool { return o.Sample.Sort != Fault })
	f.Strata = rows(single, func(o *Outcome) string { return o.Sample.Path.Stratum() })
	slices.SortStableFunc(f.Strata, func(a, b Row) int { return cmp.Compare(a.Right.Ratio(), b.Right.Ratio()) })
	f.Mimics, f.Sure = mimicRows(slices.Concat(faults, healthy)), sureRows(faults)
	return f
}

// rows groups outcomes, and counts each group; in the order of names.
func rows(outcomes []Outcome, key func(*Outcome) string) (all []Row) {
	groups, left := map[string][]*Outcome{}, map[string]int{}
	sorts := map[string]Sort{}
	for i := range outcomes {
		o := &outcomes[i]
		k := key(o)
		sorts[k] = o.Sample.Sort
		if o.State == Counts {
			groups[k] = append(groups[k], o)
		} else {
			left[k]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(sorts)) {
		r := Row{Name: k, Sort: sorts[k], Right: shareIn(groups[k], (*Outcome).Right), Left: left[k], Verdicts: map[string]int{},
			Three: shareIn(groups[k], func(o *Outcome) bool { return o.Three })}
		for _, o := range groups[k] {
			r.Verdicts[o.Verdict]++
		}
		all = append(all, r)
	}
	return all
}

// sureRows holds confidence against how often it is right to be so sure.
func sureRows(faults []*Outcome) (all []SureRow) {
	for i, from := range sureBins {
		to := 2.0
		if i+1 < len(sureBins) {
			to = sureBins[i+1]
		}
		in := slices.DeleteFunc(slices.Clone(faults), func(o *Outcome) bool { return o.Sure == 0 || o.Sure < from || o.Sure >= to })
		all = append(all, SureRow{From: from, Right: shareIn(in, (*Outcome).Right)})
	}
	return all
}

package analysis

import (
	"testing"
	"time"
)

// Finer runs say when it was; where they do not, it stays as it was known.
func TestRefine(t *testing.T) {
	at := func(minute int) time.Time { return begin.Add(time.Duration(minute) * time.Minute) }
	for name, c := range map[string]struct {
		values   []float64 // one a minute
		from, to int
	}{
		"clean":           {[]float64{40, 41, 40, 60, 61, 60}, 2, 3},
		"one late packet": {[]float64{40, 70, 40, 40, 41, 40, 40, 40, 60, 60, 60, 61}, 7, 8},
		"all before":      {[]float64{40, 40, 40}, 0, 20},
		"all after":       {[]float64{60, 60, 60}, 0, 20},
		"here and there":  {[]float64{40, 60, 40, 60, 40, 60}, 0, 20},
		"one run":         {[]float64{40}, 0, 20},
	} {
		var runs []Run
		for i, v := range c.values {
			runs = append(runs, Run{at(i), v})
		}
		got := Change{Shape: Step, From: at(0), To: at(20), Before: Estimate{Value: 40}, After: Estimate{Value: 60}}
		got.Refine(runs)
		if !got.From.Equal(at(c.from)) || !got.To.Equal(at(c.to)) {
			t.Errorf("%s: between %v and %v", name, got.From, got.To)
		}
	}
}

// Another pair changed as well if it is beyond its own runs, the same way, by what is worth telling.
func TestDiffers(t *testing.T) {
	before := Window{Value: 40, Low: 39, High: 45, Runs: 20}
	for name, c := range map[string]struct {
		after Window
		up    bool
		want  bool
	}{
		"up":                    {Window{Value: 60, Runs: 5}, true, true},
		"up, and down is meant": {Window{Value: 60, Runs: 5}, false, false},
		"within its runs":       {Window{Value: 44, Runs: 5}, true, false},
		"down":                  {Window{Value: 30, Runs: 5}, false, true},
		"too few runs":          {Window{Value: 60, Runs: 2}, true, false},
		"not worth telling":     {Window{Value: 45.5, Runs: 9}, true, false},
	} {
		if got := (Worth{Least: 1, Share: 0.2}).Differs(before, c.after, c.up); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	lost := func(of, all float64) Count { return Count{Of: of, All: all} }
	for name, c := range map[string]struct {
		before, after Count
		up, want      bool
	}{
		"loss":                    {lost(0, 1000), lost(20, 1000), true, true},
		"loss, and none is meant": {lost(0, 1000), lost(20, 1000), false, false},
		"none any more":           {lost(20, 1000), lost(0, 1000), false, true},
		"one burst":               {lost(0, 1000), lost(4, 1000), true, false},
		"a little more":           {lost(20, 1000), lost(30, 1000), true, false},
		"nothing sent":            {lost(0, 0), lost(30, 1000), true, false},
	} {
		if got := CountsDiffer(c.before, c.after, c.up); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The onset of losses is told to the run or so, whatever was lost by chance before, and not where they began before all that is known.
func TestOnset(t *testing.T) {
	counts := func(of ...float64) (all []Count) {
		for i, k := range of {
			all = append(all, Count{At: noon.Add(time.Duration(i) * time.Minute), Of: k, All: 100})
		}
		return all
	}
	for name, c := range map[string]struct {
		of         []float64
		usual, now float64
		at         int
		known      bool
	}{
		"in the middle":            {[]float64{0, 0, 1, 0, 0, 6, 3, 5, 0, 7}, 0.001, 0.05, 5, true},
		"none at all before":       {[]float64{0, 0, 0, 4, 6}, 0, 0.05, 3, true},
		"before all that is known": {[]float64{5, 4, 6}, 0.001, 0.05, 0, false},
		"no more than usual":       {[]float64{0, 0, 5, 5}, 0.05, 0.05, 0, false},
		"all are lost":             {[]float64{0, 100}, 0, 1, 1, true},
		"nothing is known":         {nil, 0, 0.1, 0, false},
	} {
		at, known := Onset(counts(c.of...), c.usual, c.now)
		if known != c.known || known && !at.Equal(noon.Add(time.Duration(c.at)*time.Minute)) {
			t.Errorf("%s: %v, %v", name, at, known)
		}
	}
}

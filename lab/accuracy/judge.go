package accuracy

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// Outcome is how one record stands to the truth, by the rules of today.
type Outcome struct {
	Sample  Sample  `json:"sample"`
	State   State   `json:"state"`
	Verdict string  `json:"verdict"`
	Named   int     `json:"named"`   // of the sample's faults: among all findings
	First   bool    `json:"first"`   // the verdict is right
	Three   bool    `json:"three"`   // one of the first three warnings and problems is
	Problem bool    `json:"problem"` // a finding is one
	Sure    float64 `json:"confidence"`
	// Off is how far the prediction is from what following the advice reached, as a share of that; nil: none was made, or not followed.
	Off     *float64 `json:"off,omitempty"`
	Seconds float64  `json:"seconds"`
	Busy    float64  `json:"busy_ratio"`
	Why     string   `json:"why,omitempty"` // it is left out
}

// State says what a record is worth.
type State string

const (
	Counts State = "counts"
	Unwell State = "unwell" // what should be harmless was not
	Loose  State = "loose"  // the fault did not hold the path back
	Weak   State = "weak"   // this machine could not carry the lab
	Broken State = "broken" // it could not be played, or diagnosed
)

// Judge applies the rules of today to all records of a folder, on all processors. Outcomes are in the order of the files' names.
func Judge(dir string) ([]Outcome, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	outcomes := make([]Outcome, len(paths))
	var all errgroup.Group
	all.SetLimit(mostAtOnce)
	for i, path := range paths {
		all.Go(func() error {
			r, err := Read(path)
			if err == nil {
				outcomes[i] = r.judge()
			}
			return err
		})
	}
	return outcomes, all.Wait()
}

// mostAtOnce bounds the records in memory: one is some megabytes.
const mostAtOnce = 8

// judge says how the rules of today see what was measured.
func (r *Record) judge() Outcome {
	r.Sample.update()
	o := Outcome{Sample: r.Sample, State: r.state(), Seconds: r.Seconds, Busy: r.Load.Busy, Why: strings.Join(slices.DeleteFunc([]string{r.Failed, r.Emulator.Why}, func(why string) bool { return why == "" }), "; ")}
	if o.State == Broken {
		return o
	}
	d := diagnose.Diagnose(r.Results)
	o.Verdict = d.Verdict
	o.First = r.Sample.called(d.Verdict)
	o.Problem = slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.Severity == measure.Problem })
	for _, e := range r.Sample.Expect {
		if slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return e.fits(f.ID) }) {
			o.Named++
		}
	}
	slow := slices.DeleteFunc(slices.Clone(d.Findings), func(f measure.Finding) bool { return f.Severity == measure.Info })
	for _, f := range slow[:min(len(slow), 3)] {
		o.Three = o.Three || r.Sample.called(f.ID)
	}
	f := d.First()
	if f == nil {
		return o
	}
	o.Sure = f.Confidence
	if a := r.Advice; a != nil && a.How != Unfit && a.Failed == "" && !(a.How == ByMending && r.Sample.Lasts) && a.Finding == f.ID && f.Predicted != nil {
		off := math.Inf(1)
		if a.Reached > 0 {
			off = math.Abs(f.Predicted.BitsPerSecond-a.Reached) / a.Reached
		}
		off = min(off, mostTold)
		o.Off = &off
	}
	return o
}

// mostTold is how far off a prediction is told to be at most, where nothing was reached: JSON has no infinity.
const mostTold = 1000

func (r *Record) state() State {
	switch {
	case r.Failed != "" && len(r.Results) == 0:
		return Broken
	case r.Emulator.Bottleneck:
		return Weak
	case r.Failed != "":
		return Broken
	case r.Sample.Sort == Healthy && r.Bound():
		return Unwell
	case r.Sample.Sort != Healthy && !r.Bound():
		return Loose
	}
	return Counts
}

// Right reports whether a record's outcome is what it should be: of a healthy path, that nothing is a problem; of two faults, that both
// are named.
func (o *Outcome) Right() bool {
	switch o.Sample.Sort {
	case Healthy:
		return !o.Problem
	case Two:
		return o.Named == len(o.Sample.Expect)
	}
	return o.First
}

// None reports whether a diagnosis says that it does not know.
func (o *Outcome) None() bool { return o.Verdict == diagnose.Unknown || o.Verdict == "unexplained" }

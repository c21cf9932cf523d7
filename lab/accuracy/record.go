package accuracy

import (
	"fmt"
	"path/filepath"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab"
)

// Record is what came of a sample: a recording of its diagnosis, and what was true meanwhile. One that could not be played has no
// Results, and Failed says why.
type Record struct {
	diagnose.Recording
	Sample Sample `json:"sample"`

	// Without and With are what was measured without the fault and with it: goodput in bit/s, or the time of a transaction in seconds.
	Without float64 `json:"without"`
	With    float64 `json:"with"`
	Verdict string  `json:"verdict"` // of the rules of then
	Seconds float64 `json:"seconds"` // that the diagnosis took
	Advice  *Advice `json:"advice,omitempty"`

	Emulator lab.EmulatorTruth `json:"emulator"`
	Tries    int               `json:"tries"` // how often it was played: again where the emulator was the bottleneck
	Load     Load              `json:"load"`
	Failed   string            `json:"failed,omitempty"`
}

// Advice is what came of following the advice of the first finding that predicted a rate.
type Advice struct {
	Finding   string  `json:"finding"`
	How       How     `json:"how"`
	Predicted float64 `json:"predicted_bits_per_second"`
	Reached   float64 `json:"reached_bits_per_second"`
	Failed    string  `json:"failed,omitempty"` // why it could not be followed, or what it reached not be measured
}

// How says how an advice was followed.
type How string

const (
	ByCommand How = "command" // as it was printed
	ByMending How = "mended"  // it asked for a repair of the path or the program, which was made
	Unfit     How = "unfit"   // it asked for a repair of what was not broken, or that cannot be made in a lab that runs
)

// bindsAt is the share of what there is without a fault below which the transfer with it is slow: what package diagnose calls full.
const bindsAt = 0.8

// Bound reports whether the fault, or what should be harmless, held the path back while it was diagnosed.
func (r *Record) Bound() bool {
	switch r.Sample.Binds {
	case ByRate:
		return r.With < bindsAt*r.Without
	case ByTime:
		return r.With*bindsAt > r.Without
	}
	return r.Sample.Sort != Healthy
}

// Read reads a record.
func Read(path string) (*Record, error) {
	var r Record
	if err := document.ReadPacked(path, diagnose.MostBytes, &r); err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	return &r, nil
}

// fileOf is where the record of a sample is in a folder.
func fileOf(dir, sample string) string { return filepath.Join(dir, sample+".json.gz") }

// Write writes a record into a folder, whole or not at all.
func (r *Record) Write(dir string) error {
	if err := document.WritePacked(fileOf(dir, r.Sample.Name), r); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Left are the samples of a plan that have no record in a folder, or one of another sample of the same name.
func Left(plan []Sample, dir string) (left []Sample) {
	for i := range plan {
		if r, err := Read(fileOf(dir, plan[i].Name)); err != nil || r.Sample.Case != plan[i].Case {
			left = append(left, plan[i])
		}
	}
	return left
}

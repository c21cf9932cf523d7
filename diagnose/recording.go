package diagnose

import (
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// RecordingSchema names the JSON layout of a Recording.
const RecordingSchema = "pathwise.recording/1"

// Recording is what a diagnosis measured of a path whose fault is known, so that rules can be tried on it without a lab.
type Recording struct {
	Schema  string            `json:"schema"`
	Fault   string            `json:"fault"`            // its name in the lab's library
	Finding string            `json:"finding"`          // what a diagnosis should call it; "": it has no finding yet
	Family  []string          `json:"family,omitempty"` // findings that say the same less exactly
	Results []*measure.Result `json:"results"`
}

// Truth is how a verdict stands to the fault that was played.
type Truth string

const (
	Right  Truth = "right"  // the fault's own finding
	Kin    Truth = "family" // one that says the same less exactly
	Missed Truth = "missed" // no cause was named
	Wrong  Truth = "wrong"  // a cause that the fault is not
)

// Judge says how the verdict of a diagnosis stands to the truth. A finding that makes nothing slow is among those of a healthy path.
func (r *Recording) Judge(d *Diagnosis) Truth {
	healthy := d.Verdict == Healthy || d.Verdict == Unknown
	holds := func(id string) bool {
		return d.Verdict == id || healthy && slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == id })
	}
	switch {
	case r.Finding != "" && holds(r.Finding):
		return Right
	case slices.ContainsFunc(r.Family, holds):
		return Kin
	case slices.ContainsFunc([]string{Healthy, Unknown, unexplained.ID}, holds):
		return Missed
	}
	return Wrong
}

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

// Judge says how the verdict of a diagnosis stands to the truth. A path that is full has a finding, and is healthy.
func (r *Recording) Judge(d *Diagnosis) Truth {
	holds := func(id string) bool { return d.Verdict == id || id == pathFull.ID && d.Verdict == Healthy }
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

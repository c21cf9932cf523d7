package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
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
	Before  []*measure.Result `json:"before,omitempty"` // of the path before the fault, where the fault is that it changed
	// What the path was to carry as a part of a longer one: see Target. 0: that was not asked.
	TargetRateBitsPerSecond float64 `json:"target_rate_bits_per_second,omitempty"`
	TargetRTTSeconds        float64 `json:"target_rtt_seconds,omitempty"`
}

// Record takes what a diagnosis was made of.
func (r *Recording) Record(d *Diagnosis) {
	r.Results, r.Before = d.Results, d.Before
	if d.Section != nil {
		r.TargetRateBitsPerSecond, r.TargetRTTSeconds = d.Section.RateBitsPerSecond, d.Section.RTTSeconds
	}
}

// Diagnose applies the rules of today.
func (r *Recording) Diagnose() *Diagnosis {
	if r.TargetRateBitsPerSecond > 0 {
		return DiagnoseSection(Target{r.TargetRateBitsPerSecond, model.Seconds(r.TargetRTTSeconds)}, r.Before, r.Results)
	}
	return DiagnoseAfter(r.Before, r.Results)
}

// Package measure holds the nouns that every part of Pathwise speaks: the Task that is asked for, the Result that
// comes back, the Metric names in it, the Clock behind it, and the Finding drawn from it.
//
// It holds data and the rules that keep data well formed. It measures nothing, opens nothing and decides nothing:
// package probe turns Tasks into Results, package diagnose turns Results into Findings.
//
// All numbers are in SI base units (seconds, bit/s, bytes, ratios 0..1) and field names end in their unit.
package measure

import (
	"context"
	"time"

	"github.com/oklog/ulid/v2"
)

// Status says how much of what was asked for was measured. Loss is data, not a failure: a ping without one reply is
// StatusOK with a loss ratio of 1; a ping that could not send is StatusFailed.
type Status string

const (
	StatusOK      Status = "ok"
	StatusPartial Status = "partial" // measured something, then failed or was interrupted; Error says why
	StatusFailed  Status = "failed"  // measured nothing
)

// Endpoint is one end of a measured path: the name it was asked for by, and the address that was measured.
type Endpoint struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// Result is one finished measurement: who measured what, from where to where, when, with which parameters, what came
// out, and the samples behind it.
type Result struct {
	Schema          string             `json:"schema"`
	ID              string             `json:"id"` // ULID: sorts by time of creation
	Kind            string             `json:"kind"`
	Test            string             `json:"test,omitempty"` // of the mesh, when it planned the run
	Tool            string             `json:"tool,omitempty"` // of the mesh: a kind with parameters, under a name
	Role            Role               `json:"role,omitempty"` // of the mesh: why it was made
	Status          Status             `json:"status"`
	Error           *string            `json:"error"`
	Source          Endpoint           `json:"source"`
	Target          Endpoint           `json:"target"`
	Way             Way                `json:"way,omitempty"`     // that the data went; source and target are who asked and who was asked
	Subject         *Subject           `json:"subject,omitempty"` // what it is of beside them; nil: nothing
	Started         time.Time          `json:"started"`
	DurationSeconds float64            `json:"duration_seconds"`
	Parameters      map[string]any     `json:"parameters"`
	Metrics         map[Metric]float64 `json:"metrics"` // an absent metric was not measured; zero is a value
	// Distributions are of the samples behind metrics, under the names that Definition.Merge gives them. nil: none is known.
	Distributions map[Metric]Distribution `json:"distributions,omitempty"`
	Clock         Clock                   `json:"clock"`
	TargetClock   *Clock                  `json:"target_clock"` // the far end's; nil: nothing is known of it
	Samples       Samples                 `json:"samples"`
	Notes         []string                `json:"notes"`
}

// NewResult starts a Result of the given kind at the given time, with every map and slice ready for use.
func NewResult(kind string, started time.Time) *Result {
	return &Result{
		Schema:     ResultSchema,
		ID:         ulid.Make().String(),
		Kind:       kind,
		Status:     StatusOK,
		Started:    started.UTC(),
		Parameters: map[string]any{},
		Metrics:    map[Metric]float64{},
		Notes:      []string{},
	}
}

// Fail records that the measurement ended early because of err: partial when any metric came out, failed when none
// did. A nil err leaves the Result as it is.
func (r *Result) Fail(err error) {
	if err == nil {
		return
	}
	text := err.Error()
	r.Error = &text
	r.Status = StatusPartial
	if len(r.Metrics) == 0 {
		r.Status = StatusFailed
	}
}

// Note appends a remark for people: something that limits what the numbers mean.
func (r *Result) Note(text string) { r.Notes = append(r.Notes, text) }

// Get returns the metric and whether it was measured.
func (r *Result) Get(m Metric) (float64, bool) {
	v, ok := r.Metrics[m]
	return v, ok
}

// Moved is how many bytes of payload a transfer moved, both ways, and whether the Result says so. Of the two ends' counts of
// the same bytes the larger one counts: what was lost was sent.
func (r *Result) Moved() (bytes float64, known bool) {
	for _, counts := range [][2]Metric{{SentBytes, ReceivedBytes}, {ReverseSentBytes, ReverseReceivedBytes}} {
		sent, one := r.Get(counts[0])
		received, two := r.Get(counts[1])
		bytes += max(sent, received)
		known = known || one || two
	}
	return bytes, known
}

// Task is one measurement to be made: a kind, a target and the parameters of that kind.
//
// Each kind of probe has a typed parameter struct of its own in package probe; a Task is what crosses a wire or
// stands in a file, so its parameters are what JSON can hold.
type Task struct {
	Kind       string         `json:"kind"`
	Target     string         `json:"target"`
	Parameters map[string]any `json:"parameters,omitempty"`
}

// A Prober makes one kind of measurement. Do returns what was measured even when it fails or ctx ends: the Result is
// never nil, and the error, when not nil, is also recorded in it.
type Prober interface {
	Do(ctx context.Context) (*Result, error)
}

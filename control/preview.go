package control

import (
	"iter"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/schedule"
)

// Preview is a mesh file's plan before anything starts.
type Preview struct {
	*schedule.Planner
	work *work
}

// PlannedRun is a run of a plan or a Preview, by names.
type PlannedRun struct {
	Run       string    `json:"run,omitempty"` // ID; "": of a Preview
	Test      string    `json:"test"`          // "": somebody asked for it
	Tool      string    `json:"tool"`
	Source    string    `json:"source"` // host
	Target    string    `json:"target"` // host
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	Exclusive bool      `json:"exclusive"`
}

// NewPreview plans a mesh, by what was measured, which may be nil. The same seed gives the same plan; a controller draws its own.
func NewPreview(m *config.Mesh, seed uint64, measured config.Measured) (*Preview, error) {
	w, err := translate(m, measured)
	if err != nil {
		return nil, err
	}
	p, err := schedule.New(w.schedule, seed)
	if err != nil {
		return nil, err
	}
	return &Preview{p, w}, nil
}

// Named yields the runs that begin in [from, until), by start.
func (p *Preview) Named(from, until time.Time) iter.Seq[PlannedRun] {
	return func(yield func(PlannedRun) bool) {
		hosts := p.work.mesh.Hosts
		for r := range p.Runs(from, until) {
			test := &p.work.mesh.Tests[p.work.tests[r.Test]]
			named := PlannedRun{
				Test: test.Name, Tool: test.Tool, Source: hosts[p.work.ends[r.Source][0]].Name,
				Target: hosts[p.work.ends[r.Target][0]].Name, Start: r.Begin(), End: r.End(),
				Exclusive: p.work.schedule.Tests[r.Test].Demand.Exclusive,
			}
			if !yield(named) {
				return
			}
		}
	}
}

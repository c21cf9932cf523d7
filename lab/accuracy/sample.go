package accuracy

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/scenario"
)

// Sample is one diagnosis of a Plan.
type Sample struct {
	Name     string  `json:"name"` // such as random-loss-007
	Cause    string  `json:"cause"`
	Sort     Sort    `json:"sort"`
	Path     Path    `json:"path"`
	Strength float64 `json:"strength"` // of the fault: what it counts, Says tells
	Says     string  `json:"says"`
	// Leaves is what the fault leaves by its model: goodput in bit/s; 0: it is no fault of transfers.
	Leaves float64    `json:"leaves_bits_per_second,omitempty"`
	Seed   uint64     `json:"seed"` // of the lab
	Expect []Expected `json:"expect"`
	Binds  Binding    `json:"binds"`
	Case   string     `json:"case"` // a case file up to its diagnosis: see package scenario
	Mend   []Change   `json:"mend"` // takes the fault out of the lab, where it is a setting of the lab
	// Lasts says that nothing takes the fault out: it is a part of the lab's plan.
	Lasts bool `json:"lasts,omitempty"`
}

// Sort says what kind of truth a sample has.
type Sort string

const (
	Fault   Sort = "fault"
	Healthy Sort = "healthy"
	Two     Sort = "two" // faults at once
)

// Expected is what a fault should be called.
type Expected struct {
	Finding string   `json:"finding"`
	Family  []string `json:"family,omitempty"` // findings that say the same less exactly
}

// fits reports whether a finding is that, or of its family.
func (e Expected) fits(id string) bool { return e.Finding == id || slices.Contains(e.Family, id) }

// Binding says by what it shows that a fault binds.
type Binding string

const (
	ByRate Binding = "rate"   // a transfer with the fault is below bindsAt times the goodput of one without
	ByTime Binding = "time"   // a transaction takes longer, by as much
	Always Binding = "always" // nothing that is measured here shows it
)

// Change is one setting of a lab: of the link between two nodes, or of a host.
type Change struct {
	Between []string `json:"between,omitempty"`
	Setting string   `json:"setting,omitempty"` // "loss=1%", "forward.loss=1%"
	Host    string   `json:"host,omitempty"`
	Key     string   `json:"key,omitempty"`
	Value   string   `json:"value,omitempty"`
}

// apply makes a change in a lab that runs.
func (c *Change) apply(l *lab.Lab) error {
	if c.Host != "" {
		return l.SetSysctl(c.Host, c.Key, c.Value)
	}
	return l.Set(c.Between[0], c.Between[1], c.Setting)
}

// Parse reads the sample's case.
func (s *Sample) Parse() (*scenario.Case, error) {
	c, err := scenario.Parse(s.Name+".yaml", []byte(s.Case))
	if err != nil {
		return nil, fmt.Errorf("sample %s: %w", s.Name, err)
	}
	return c, nil
}

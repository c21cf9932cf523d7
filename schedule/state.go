package schedule

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"
)

// State is what a planner must know beyond its mesh: nothing but the seed, until the mesh changes while a cycle goes
// on. Then it also says, until that cycle is over, which pairs had their turn before, and what was about to run.
type State struct {
	Schema     string    `json:"schema"` // StateSchema
	Seed       uint64    `json:"seed"`
	Mesh       uint64    `json:"mesh"`                 // Fingerprint
	Since      time.Time `json:"since,omitzero"`       // what begins before this was planned for an earlier mesh
	Begun      time.Time `json:"begun,omitzero"`       // exclusive runs of this mesh begin from here on
	Tests      []string  `json:"tests,omitempty"`      // names, for the numbers below
	Interfaces []string  `json:"interfaces,omitempty"` // names, for the numbers below
	Committed  []Run     `json:"committed,omitempty"`
	Done       []Turns   `json:"done,omitempty"`
}

// StateSchema names the layout of a State.
const StateSchema = "pathwise.schedule/1"

// Turns says which pairs of a test had their turn in a cycle, before the mesh changed.
type Turns struct {
	Test  int32  `json:"test"`
	Cycle int64  `json:"cycle"`
	End   int64  `json:"end"`   // of the cycle, in nanoseconds since 1970
	Pairs []byte `json:"pairs"` // bit source*interfaces+target, lowest first
}

func (t *Turns) has(p Pair, interfaces int) bool {
	i := int(p.Source)*interfaces + int(p.Target)
	return i/8 < len(t.Pairs) && t.Pairs[i/8]&(1<<(i%8)) != 0
}

func (t *Turns) set(p Pair, interfaces int) {
	i := int(p.Source)*interfaces + int(p.Target)
	if t.Pairs == nil {
		t.Pairs = make([]byte, (interfaces*interfaces+7)/8)
	}
	t.Pairs[i/8] |= 1 << (i % 8)
}

// Fingerprint tells one mesh from another: all that a plan follows from but the seed, with Text for functions.
func (m *Mesh) Fingerprint() uint64 {
	h := fnv.New64a()
	encoder := json.NewEncoder(h) // writing to a hash cannot fail
	_ = encoder.Encode([]any{m.Interfaces, m.Hosts, m.Sites, m.Guard, m.Freeze})
	for _, p := range m.Phases {
		_ = encoder.Encode([]any{p.Name, p.Timing.Every, p.Timing.Sampling, p.Timing.Text})
	}
	for _, c := range m.Closures {
		_ = encoder.Encode([]any{c.Tests, c.Hosts, c.Sources, c.Targets, c.Pairs, c.Text})
	}
	for i := range m.Tests {
		t := &m.Tests[i]
		_ = encoder.Encode([]any{t.Name, t.Demand, t.Phase, t.Slot, t.Tries, t.Avoid})
		_ = encoder.Encode(t.Bytes)
		_ = encoder.Encode([]any{t.Timing.Every, t.Timing.Sampling, t.Timing.Text})
		var sum uint64
		for _, p := range t.Pairs {
			sum = mix(sum ^ uint64(p.Source)<<32 ^ uint64(p.Target))
		}
		fmt.Fprint(h, len(t.Pairs), sum)
	}
	return h.Sum64()
}

// State is what Resume needs to go on at now or later.
func (p *Planner) State(now time.Time) State {
	s := State{Schema: StateSchema, Seed: p.seed, Mesh: p.mesh.Fingerprint()}
	for _, r := range p.committed {
		if r.Start+int64(r.Slot+r.Duration+p.guard) > now.UnixNano() {
			s.Committed = append(s.Committed, r)
		}
	}
	for _, t := range p.done {
		if t.End > now.UnixNano() {
			s.Done = append(s.Done, t)
		}
	}
	if p.since > -never {
		s.Since, s.Begun = time.Unix(0, p.since).UTC(), time.Unix(0, p.begun).UTC()
	}
	if len(s.Committed)+len(s.Done) > 0 {
		for i := range p.mesh.Tests {
			s.Tests = append(s.Tests, p.mesh.Tests[i].Name)
		}
		for _, i := range p.mesh.Interfaces {
			s.Interfaces = append(s.Interfaces, i.Name)
		}
	}
	return s
}

package lab

import (
	"time"

	"github.com/pathwise-net/pathwise/lab/link"
)

// StateSchema names the JSON layout of a State.
const StateSchema = "pathwise.lab/1"

// State is a running lab: what it was made from, with every change since, and where its nodes are.
type State struct {
	Schema string      `json:"schema"`
	Name   string      `json:"name"`
	Seed   uint64      `json:"seed"`
	Nodes  []NodeState `json:"nodes"`
	Links  []LinkState `json:"links"`
}

// NodeState is a host or router and its addresses, its own first; IPv4's before IPv6's.
type NodeState struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"` // "host" or "router"
	Addresses []string `json:"addresses"`
}

// LinkState is a link with what it does each way.
type LinkState struct {
	Between [2]string  `json:"between"`
	Forward ShapeState `json:"forward"`
	Reverse ShapeState `json:"reverse"`
}

// ShapeState is a shape for readers: all of it as a lab file would say it, and what is a plain number also in SI units,
// nil where the default holds.
type ShapeState struct {
	Shape string   `json:"shape,omitempty"`
	Rate  *float64 `json:"rate_bits_per_second,omitempty"`
	Delay *float64 `json:"delay_seconds,omitempty"`
	Loss  *float64 `json:"loss_ratio,omitempty"` // where it is the same for every packet
}

func stateOf(s link.Shape) ShapeState {
	state := ShapeState{Shape: s.String(), Rate: (*float64)(s.Rate)}
	if s.Delay != nil {
		seconds := time.Duration(*s.Delay).Seconds()
		state.Delay = &seconds
	}
	if s.Loss != nil && s.Loss.Plain() {
		state.Loss = (*float64)(s.Loss.Ratio)
	}
	return state
}

func (e *engine) state() *State {
	e.pump.mu.Lock()
	defer e.pump.mu.Unlock()
	s := &State{Schema: StateSchema, Name: e.name, Seed: e.plan.Seed}
	for _, n := range e.plan.Nodes {
		node := NodeState{Name: n.Name, Kind: "host", Addresses: []string{}}
		if n.Router {
			node.Kind = "router"
		}
		for _, id := range n.Interfaces {
			node.Addresses = append(node.Addresses, e.plan.Interfaces[id].Address.String())
		}
		for _, id := range n.Interfaces {
			node.Addresses = append(node.Addresses, e.plan.Interfaces[id].Address6.String())
		}
		s.Nodes = append(s.Nodes, node)
	}
	shapes := e.pump.network.shapes
	for l := 0; l < len(shapes); l += 2 {
		s.Links = append(s.Links, LinkState{
			Between: [2]string{e.plan.nodeOf(l), e.plan.nodeOf(l + 1)}, Forward: stateOf(shapes[l]), Reverse: stateOf(shapes[l+1])})
	}
	return s
}

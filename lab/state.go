package lab

import (
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/traffic"
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

// NodeNames are the names of nodes by each of their addresses.
func (s *State) NodeNames() map[string]string {
	names := map[string]string{}
	for _, n := range s.Nodes {
		for _, address := range n.Addresses {
			names[address] = n.Name
		}
	}
	return names
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

// String is what a lab file would say: {} where it need not say anything.
func (s ShapeState) String() string {
	if s.Shape == "" {
		return "{}"
	}
	return s.Shape
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

// source is a flow of the lab's own packets between two nodes.
type source struct {
	generator    *traffic.Generator
	node, target int
	from, to     netip.AddrPort
	dscp         byte
	broadcast    bool
	size         int // of the next packet
}

// crossPort is the first UDP port of cross traffic: source number k uses crossPort + k, so that captures tell them apart.
const crossPort = 40000

// addTraffic makes a source of each entry of the file's traffic but the TCP flows, which are real and run on hosts.
func (n *Network) addTraffic() {
	for k := range n.plan.Traffic {
		c := &n.plan.Traffic[k]
		n.generators = append(n.generators, nil)
		if c.Kind == traffic.TCP {
			continue
		}
		node, _ := n.plan.NodeByName(c.From)
		target, _ := n.plan.NodeByName(c.To)
		from, to := n.plan.Address(node), n.plan.Address(target)
		if c.Broadcast {
			to = packet.Everybody(from)
		}
		port := uint16(crossPort + k)
		n.generators[k] = &source{generator: traffic.New(c, n.plan.Seed, k), node: node, target: target, dscp: byte(c.DSCP),
			from: netip.AddrPortFrom(from, port), to: netip.AddrPortFrom(to, port), broadcast: c.Broadcast}
		n.planEmission(k)
	}
}

// planEmission puts a source's next packet on the agenda.
func (n *Network) planEmission(k int) {
	s := n.generators[k]
	at, size, ok := s.generator.Next()
	s.size = size
	n.agenda.set(len(n.directions)+k, at, ok)
}

// emit sends a source's packet.
func (n *Network) emit(k int, t int64) {
	s := n.generators[k]
	p := n.Pool.Get(s.size)
	clear(p.Data)
	packet.UDP(p.Data, s.from, s.to, s.dscp, 64)
	p.Local = !s.broadcast
	n.planEmission(k)
	ways := n.routes[s.node][s.target]
	n.Book.Begin(p, t)
	if len(ways) == 0 {
		n.drop(t, -1, p, packet.NoRoute)
		return
	}
	out := n.choose(s.node, s.target, p)
	n.tap(t, n.plan.Directions[out].From, true, p)
	if size, _ := n.directions[out].MTU(); size > 0 && len(p.Data) > size {
		n.oversize(t, out, p)
		return
	}
	n.send(t, out, p)
}

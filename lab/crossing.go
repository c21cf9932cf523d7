package lab

import (
	"net/netip"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/traffic"
)

// source is a flow of the lab's own packets between two nodes.
type source struct {
	generator    *traffic.Generator
	node, target int
	from, to     netip.AddrPort
	dscp         byte
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
		port := uint16(crossPort + k)
		n.generators[k] = &source{generator: traffic.New(c, n.plan.Seed, k), node: node, target: target, dscp: byte(c.DSCP),
			from: netip.AddrPortFrom(n.plan.Address(node), port), to: netip.AddrPortFrom(n.plan.Address(target), port)}
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
	p.Local = true
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

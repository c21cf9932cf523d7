package lab

import (
	"errors"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Roles are the interfaces that a router tells of, by what each has to do with the packet. In a file they are a list of names, or true, which is
// the interface that the packet came in by.
type Roles []packet.Role

// roleNames are the roles as RFC 5837 has them, by number.
var roleNames = []string{"incoming", "sub-ip", "outgoing", "next-hop"}

// UnmarshalYAML reads true, false or a list of names.
func (r *Roles) UnmarshalYAML(node ast.Node) error {
	*r = nil
	if told, is := node.(*ast.BoolNode); is {
		if told.Value {
			*r = Roles{packet.Incoming}
		}
		return nil
	}
	list, is := node.(*ast.SequenceNode)
	if !is {
		return document.At(node, errors.New("want true, or a list of incoming, sub-ip, outgoing and next-hop"))
	}
	for _, value := range list.Values {
		name, _ := document.Scalar(value)
		role := slices.Index(roleNames, name)
		if role < 0 || slices.Contains(*r, packet.Role(role)) {
			return document.At(value, errors.New("want each once of incoming, sub-ip, outgoing and next-hop"))
		}
		*r = append(*r, packet.Role(role))
	}
	return nil
}

// bundled is how much larger the number of an interface's part is than its own: the lab has no bundles of cables, and tells of each interface as of one with parts.
const bundled = 1000

// toldInterface is the interface of a role, with the parts that RFC 5837 has of it, and whether there is one: a packet for which there is no route
// would leave by none.
func (n *Network) toldInterface(role packet.Role, node, iface int, about *packet.Packet) (packet.Interface, bool) {
	if role == packet.Outgoing || role == packet.NextHop {
		owner, known := n.plan.owner[packet.Target(about.Data)]
		if !known || owner == node || len(n.routes[node][owner]) == 0 {
			return packet.Interface{}, false
		}
		out := n.plan.Directions[n.nextWay(node, owner, about)] // which the telling leaves as it is
		if iface = out.From; role == packet.NextHop {
			iface = out.To
		}
	}
	i := n.plan.Interfaces[iface]
	t := packet.Interface{Role: role, Index: uint32(slices.Index(n.plan.Nodes[i.Node].Interfaces, iface) + 1), Address: i.Address, Name: i.Name,
		MTU: uint32(n.plan.deviceMTU(iface))}
	if packet.Version(about.Data) == 6 {
		t.Address = i.Address6
	}
	switch role {
	case packet.SubIP:
		return packet.Interface{Role: role, Index: bundled + t.Index, Name: t.Name + ".1", MTU: t.MTU}, true
	case packet.NextHop:
		return packet.Interface{Role: role, Address: t.Address}, true
	}
	return t, true
}

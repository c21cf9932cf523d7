package lab

import (
	"fmt"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/middlebox"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// addBoxes gives each router that does more than route its middlebox; the others have a nil one.
func (n *Network) addBoxes() error {
	n.boxes = make([]*middlebox.Box, len(n.plan.Nodes))
	for id, node := range n.plan.Nodes {
		if !node.Router || node.Settings.Config.Empty() {
			continue
		}
		place, err := n.plan.place(id)
		if err != nil {
			return err
		}
		n.boxes[id] = middlebox.New(&node.Settings.Config, place, n.plan.Seed+uint64(id))
	}
	return nil
}

// place finds out what the names in a router's settings mean.
func (p *Plan) place(router int) (middlebox.Place, error) {
	node := p.Nodes[router]
	place, err := node.Settings.Config.Place(
		func(name string) []middlebox.Interface { return p.towards(router, name) }, p.addressesOf)
	if err != nil {
		return place, document.About("routers."+node.Name, "routers: %s: %v", node.Name, err)
	}
	return place, nil
}

// check says what is wrong with a plan that only shows with every node in its place, as a *SpecError.
func (p *Plan) check() error {
	for id, node := range p.Nodes {
		if node.Router {
			if _, err := p.place(id); err != nil {
				return err
			}
		}
	}
	if len(p.Traffic) == 0 {
		return nil
	}
	ways := newRoutes(p, p.Routes, nil)
	for k, c := range p.Traffic {
		from, _ := p.NodeByName(c.From)
		to, _ := p.NodeByName(c.To)
		if len(ways[from][to]) == 0 {
			return document.About(fmt.Sprintf("traffic[%d]", k), "traffic: number %d: no way from %s to %s", k+1, c.From, c.To)
		}
	}
	return nil
}

// towards returns a node's interfaces to a neighbour.
func (p *Plan) towards(node int, neighbour string) (found []middlebox.Interface) {
	for _, id := range p.Nodes[node].Interfaces {
		i := p.Interfaces[id]
		if p.nodeOf(i.Peer) == neighbour {
			found = append(found, middlebox.Interface{Number: id, Addresses: middlebox.Addresses{V4: i.Address, V6: i.Address6}})
		}
	}
	return found
}

func (p *Plan) addressesOf(name string) (middlebox.Addresses, bool) {
	id, ok := p.NodeByName(name)
	if !ok || p.Nodes[id].Router || !p.Address(id).IsValid() {
		return middlebox.Addresses{}, false
	}
	return middlebox.Addresses{V4: p.Address(id), V6: p.Address6(id)}, true
}

// refuse ends a packet that a middlebox does not let pass, and says so to its sender if the box wants that.
func (n *Network) refuse(t int64, node, iface int, p *packet.Packet, v middlebox.Verdict) {
	if v.Complain {
		n.complain(t, node, iface, p, v.Trouble, 0)
	}
	n.drop(t, -1, p, v.Cause)
}

// joinMedia puts the two directions of a link that is not full duplex on one wire.
func (n *Network) joinMedia() {
	for l := range len(n.directions) / 2 {
		if d := n.shapes[2*l].Duplex; d != nil && *d != link.Full {
			n.share(0, l)
		}
	}
}

func (n *Network) share(t int64, l int) {
	m := link.NewMedium()
	n.directions[2*l].Join(t, m, 0)
	n.directions[2*l+1].Join(t, m, 1)
	n.media[l] = m
}

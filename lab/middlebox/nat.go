package middlebox

import (
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// translator is a NAT as RFC 4787 (UDP), RFC 5382 (TCP) and RFC 5508 (ICMP) describe it, but for what Config's comments
// say:
//
//	inside                         router                        outside
//	10.0.0.1:4000 > 10.0.9.2:80 --> Leave --> 10.0.5.1:4000 > 10.0.9.2:80      (another port if 4000 is taken)
//	10.0.9.2:80 > 10.0.0.1:4000 <-- Arrive <-- 10.0.9.2:80 > 10.0.5.1:4000
//
// What comes from outside and is not for the outside address does not get in. An echo request to the outside address is
// the router's own to answer. What a host inside sends to a mapping of the outside address goes back inside (hairpinning,
// RFC 4787 REQ-9).
type translator struct {
	table
	outside   []int
	address   [2]netip.Addr // the outside address by family: IPv4, IPv6; invalid: that family is not translated
	own       [2]words      // the same
	filtering Filtering
	quotes    Quotes
	fragments [2]memory // by direction: inward, outward
}

// outcome is what a translator did to a packet.
type outcome uint8

const (
	untouched outcome = iota
	translated
	unmapped // it is to be dropped
)

const (
	inward = iota
	outward
)

// family is an index: 0 for IPv4, 1 for IPv6.
func family(b []byte) int { return int(b[0]>>4) / 6 }

func newTranslator(c *NAT, place Place) *translator {
	if c == nil || len(place.Outside) == 0 {
		return nil
	}
	ended := c.Idle.afterEnd()
	n := &translator{
		table: table{
			ages:      ages{limits: c.Idle.limits(ended, ended), most: most(c.Entries)},
			byInside:  map[endpoint]int32{},
			byOutside: map[outsidePort]int32{},
			ranges:    map[outsidePort]*portRange{},
			remotes:   map[remote]struct{}{},
		},
		filtering: c.Filtering,
		quotes:    c.Quotes,
	}
	n.moves = c.Ports == PortsMoved
	for _, i := range place.Outside {
		n.outside = append(n.outside, i.Number)
	}
	n.address[0] = place.Outside[0].V4.Unmap()
	if c.IPv6 {
		n.address[1] = place.Outside[0].V6
	}
	for f, a := range n.address {
		if a.IsValid() {
			n.own[f] = wordsOf(a)
		}
	}
	for i, f := range c.Forward[:min(len(c.Forward), len(place.Forwards))] {
		n.addForward(f, place.Forwards[i].V4.Unmap())
		if c.IPv6 {
			n.addForward(f, place.Forwards[i].V6)
		}
	}
	return n
}

func wordsOf(a netip.Addr) words {
	if a.Is4() {
		four := a.As4()
		return words{0, uint64(be.Uint32(four[:]))}
	}
	sixteen := a.As16()
	return words{be.Uint64(sixteen[:]), be.Uint64(sixteen[8:])}
}

func (n *translator) addForward(f Forward, to netip.Addr) {
	if !to.IsValid() {
		return
	}
	version := byte(6)
	if to.Is4() {
		version = 4
	}
	for _, protocol := range [...]byte{packet.ProtocolTCP, packet.ProtocolUDP} {
		if f.Protocol == 0 || byte(f.Protocol) == protocol {
			e := endpoint{wordsOf(to), uint16(f.toPort()), protocol, version}
			n.forward(e, netip.AddrPortFrom(to, uint16(f.toPort())), uint16(f.Port))
		}
	}
}

// arrive translates the target of what is for the outside address.
func (n *translator) arrive(t int64, p *packet.Packet, from int) outcome {
	b := p.Data
	f := family(b)
	if _, target := addresses(b); !n.address[f].IsValid() || target != n.own[f] {
		return untouched
	}
	if !slices.Contains(n.outside, from) {
		return n.hairpin(t, p)
	}
	d, later, fragmented := datagramOf(b)
	if later {
		i, known := n.fragments[inward].get(d)
		if !known {
			return untouched
		}
		p.Rewrite(false, n.at(i).inside)
		return translated
	}
	if packet.IsICMPError(b) {
		return n.errorInward(t, p)
	}
	i, result := n.inward(t, p)
	if fragmented && result == translated {
		n.fragments[inward].put(d, i)
	}
	return result
}

// leave translates the source of what goes from inside to outside.
func (n *translator) leave(t int64, p *packet.Packet, from, to int, arrived bool) outcome {
	fromOutside, toOutside := slices.Contains(n.outside, from), slices.Contains(n.outside, to)
	switch {
	case !n.address[family(p.Data)].IsValid(), from < 0 && !toOutside:
		return untouched
	case from < 0:
		return n.ownError(t, p)
	case fromOutside && !toOutside && !arrived:
		return unmapped
	case fromOutside || !toOutside:
		return untouched
	}
	d, later, fragmented := datagramOf(p.Data)
	if later {
		i, known := n.fragments[outward].get(d)
		if !known {
			return unmapped
		}
		n.setSource(p, n.at(i).outside)
		return translated
	}
	if packet.IsICMPError(p.Data) {
		return n.errorOutward(t, p)
	}
	i, result := n.outward(t, p)
	if fragmented && result == translated {
		n.fragments[outward].put(d, i)
	}
	return result
}

// setSource makes the outside address, and a port of it, a packet's source.
func (n *translator) setSource(p *packet.Packet, port uint16) {
	p.Rewrite(true, netip.AddrPortFrom(n.address[family(p.Data)], port))
}

// outward translates the source of a packet that shows its ports.
func (n *translator) outward(t int64, p *packet.Packet) (int32, outcome) {
	b := p.Data
	e := endsOf(b)
	if !e.hasSource {
		return 0, unmapped
	}
	source, target := addresses(b)
	key := endpoint{source, e.source, e.protocol, b[0] >> 4}
	i, ok := n.findInside(t, key)
	if !ok {
		if i, ok = n.add(t, key, netip.AddrPortFrom(packet.Source(b), e.source)); !ok {
			return 0, unmapped
		}
	}
	n.used(t, i, e.flags, true)
	n.sentTo(i, target, e.target)
	n.setSource(p, n.at(i).outside)
	return i, translated
}

// inward translates the target of a packet that shows its ports.
func (n *translator) inward(t int64, p *packet.Packet) (int32, outcome) {
	b := p.Data
	e := endsOf(b)
	if !e.hasTarget {
		return 0, untouched
	}
	i, ok := n.findOutside(t, outsidePortOf(b[0]>>4, e.protocol, e.target))
	source, _ := addresses(b)
	if !ok || !n.admits(i, source, e.source) {
		return 0, unmapped
	}
	n.used(t, i, e.flags, false)
	p.Rewrite(false, n.at(i).inside)
	return i, translated
}

// hairpin turns what a host inside sends to a mapping of the outside address back inside, from that address; also an ICMP
// error about what came to it that way (RFC 5508 REQ-7).
func (n *translator) hairpin(t int64, p *packet.Packet) outcome {
	if packet.IsICMPError(p.Data) {
		if result := n.errorInward(t, p); result != translated {
			return result
		}
		return n.errorOutward(t, p)
	}
	e := endsOf(p.Data)
	if !e.hasSource || !e.hasTarget || packet.IsFragment(p.Data) {
		return untouched
	}
	if _, known := n.findOutside(t, outsidePortOf(p.Data[0]>>4, e.protocol, e.target)); !known {
		return untouched
	}
	if _, result := n.outward(t, p); result != translated {
		return result
	}
	_, result := n.inward(t, p)
	return result
}

// used notes a packet of a mapping, if that is one that can be forgotten.
func (n *translator) used(t int64, i int32, flags byte, front bool) {
	if i >= 0 {
		n.ages.use(t, i, flags, front)
	}
}

// sentTo remembers whom a mapping was used to send to, if that decides who may answer.
func (n *translator) sentTo(i int32, address words, port uint16) {
	switch n.filtering {
	case FilterAddress:
		n.meet(remote{n.at(i).serial, address, 0})
	case FilterPort:
		n.meet(remote{n.at(i).serial, address, port})
	}
}

// admits decides whether a mapping is for a sender outside. A port forward is for all.
func (n *translator) admits(i int32, address words, port uint16) bool {
	m := n.at(i)
	switch {
	case i < 0 || n.filtering == "" || n.filtering == FilterIndependent:
		return true
	case n.filtering == FilterAddress:
		port = 0
	}
	_, met := n.remotes[remote{m.serial, address, port}]
	return met
}

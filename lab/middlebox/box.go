// Package middlebox is what a router of a lab does to packets besides routing them: it translates addresses, keeps out
// what nobody inside asked for, loses or limits ICMP errors, takes TCP options away, remarks and bleaches, and hides.
// It knows neither routes nor links nor a clock; a lab's network asks it at two places on a packet's way:
//
//	in by interface "from" --> Arrive --> is it the router's own? route? TTL --> Leave --> out by interface "to"
//	                           NAT of                                           ICMP filter, firewall, options and
//	                           the target                                       header fields, NAT of the source
//
// So all but NAT see the addresses that hold inside of it. All times are nanoseconds of virtual time; nothing is drawn
// at random but by a hash of the seed, so that the same packets meet the same fate.
package middlebox

import (
	"encoding/binary"

	"github.com/pathwise-net/pathwise/lab/packet"
)

var be = binary.BigEndian

// Verdict says what becomes of a packet. The zero value lets it go on.
type Verdict struct {
	Cause    packet.Cause   // other than packet.Kept: it is dropped, by the caller
	Complain bool           // the router has to send an ICMP error about it, if MayComplain lets it
	Trouble  packet.Trouble // which one
}

// Counts is what a box did, in wire packets (a super-packet counts for its segments).
type Counts struct {
	Translated   int64 `json:"translated"`    // NAT changed an address
	Untranslated int64 `json:"untranslated"`  // dropped: no port was left, or no host inside was known for it
	Filtered     int64 `json:"filtered"`      // dropped by the firewall
	ICMPFiltered int64 `json:"icmp_filtered"` // ICMP errors in transit that were dropped
	ICMPLimited  int64 `json:"icmp_limited"`  // ICMP errors, own and in transit, above the rate
	ECNDropped   int64 `json:"ecn_dropped"`   // dropped for their ECN bits or flags
	Stripped     int64 `json:"stripped"`      // lost a TCP option
	Clamped      int64 `json:"clamped"`       // had their MSS lowered
	Remarked     int64 `json:"remarked"`      // got another DSCP
	Bleached     int64 `json:"bleached"`      // had their ECN bits cleared
	Randomized   int64 `json:"randomized"`    // had their sequence numbers shifted
	Mappings     int   `json:"mappings"`      // NAT has now, port forwards not counted; some may have run out
	Connections  int   `json:"connections"`   // the firewall knows now; some may have run out
}

// Box is the middlebox of one router. A nil Box does nothing, at no cost. It is not safe for use by two goroutines.
type Box struct {
	nat     *translator
	wall    *firewall
	errors  *errorFilter
	tamper  *tamperer
	silent  bool
	counts  Counts
	arrived bool // Arrive gave a new target to the packet that Leave sees next
}

// New makes the box of a router at a place; nil if the configuration, which must be valid, asks for nothing.
func New(c *Config, place Place, seed uint64) *Box {
	if c.Empty() {
		return nil
	}
	return &Box{
		nat:    newTranslator(c.NAT, place),
		wall:   newFirewall(c.Firewall, place),
		errors: newErrorFilter(c.ICMP),
		tamper: newTamperer(c, seed),
		silent: c.Silent,
	}
}

// Arrive takes a packet that came in by an interface, before the router looks where it goes: NAT gives it the target
// inside that it is meant for. An ICMP error that the router itself makes about a packet behind Leave (one that the next
// link's MTU does not take) has to come by here and Leave as if it had come in by that link's interface, because it
// quotes what NAT made of the packet.
func (b *Box) Arrive(t int64, p *packet.Packet, from int) Verdict {
	if b == nil || b.nat == nil {
		return Verdict{}
	}
	return b.arrive(t, p, from)
}

// Leave takes a packet that is about to leave by an interface. From is the interface it came in by, or -1 for the
// router's own, which only NAT looks at. It must follow the packet's Arrive with no other packet's in between.
func (b *Box) Leave(t int64, p *packet.Packet, from, to int) Verdict {
	if b == nil {
		return Verdict{}
	}
	return b.leave(t, p, from, to)
}

func (b *Box) arrive(t int64, p *packet.Packet, from int) Verdict {
	outcome := b.nat.arrive(t, p, from)
	b.arrived = outcome == translated
	return b.note(p, outcome)
}

func (b *Box) leave(t int64, p *packet.Packet, from, to int) Verdict {
	if from >= 0 {
		if b.errors != nil && packet.IsICMPError(p.Data) && !b.errors.pass(t, &b.counts) {
			return Verdict{Cause: packet.Filtered}
		}
		if b.wall != nil && !b.wall.pass(t, p.Data, from, to) {
			b.counts.Filtered += int64(p.Segments())
			return Verdict{Cause: packet.Filtered, Complain: b.wall.reject, Trouble: packet.Prohibited}
		}
		if b.tamper != nil && !b.tamper.pass(p, &b.counts) {
			b.counts.ECNDropped += int64(p.Segments())
			return Verdict{Cause: packet.Filtered}
		}
	}
	if b.nat == nil {
		return Verdict{}
	}
	return b.note(p, b.nat.leave(t, p, from, to, b.arrived))
}

// note counts what NAT did.
func (b *Box) note(p *packet.Packet, outcome outcome) Verdict {
	switch outcome {
	case translated:
		b.counts.Translated += int64(p.Segments())
	case unmapped:
		b.counts.Untranslated += int64(p.Segments())
		return Verdict{Cause: packet.NoAddress}
	}
	return Verdict{}
}

// MayComplain reports whether the router may send an ICMP error at time t, and takes it for sent.
func (b *Box) MayComplain(t int64) bool {
	if b == nil {
		return true
	}
	if b.silent {
		return false
	}
	if b.errors == nil || b.errors.limit.take(t) {
		return true
	}
	b.counts.ICMPLimited++
	return false
}

// Answers reports whether the router answers what is sent to itself, such as an echo request.
func (b *Box) Answers() bool { return b == nil || !b.silent }

// Counts returns what the box has done so far.
func (b *Box) Counts() Counts {
	if b == nil {
		return Counts{}
	}
	c := b.counts
	if b.nat != nil {
		c.Mappings = b.nat.ages.used
	}
	if b.wall != nil {
		c.Connections = b.wall.ages.used
	}
	return c
}

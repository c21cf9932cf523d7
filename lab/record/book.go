// Package record is a lab's account of what became of packets: end to end by flow, packet by packet as far back as a ring
// reaches, and, for those who follow, on every link as it happens; and it writes captures. It moves no packet and reads no
// clock: the lab tells it what it did.
package record

import (
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Config bounds what a Book keeps. Zero values take the defaults.
type Config struct {
	Records int    // packets in the ring, rounded up to a power of two; 0: DefaultRecords
	Flows   int    // told apart; those beyond are one flow, "others"; 0: DefaultFlows
	Seed    uint64 // of the hash of flows
}

const (
	// DefaultRecords reach 4 seconds back at 125,000 packets/s, or a day at 6, and take 28 MiB once they are all used.
	DefaultRecords = 1 << 19
	// DefaultFlows is how many flows one address can have to one service: one from each port.
	DefaultFlows = 1 << 16
)

// Book is the account of one lab. Times are nanoseconds of its virtual time. A Book is not safe for use by two goroutines
// at once; what a Reading and a Feed allow beside it, they say.
//
//	host sends          Begin      a Record, under way
//	link, router drops  Dropped    lost, unless a copy arrives after all
//	host receives       Delivered  delivered; a second time: a duplicate
//	host sends to group BeginGroup a Record for each member, under way
//
// What the ring forgets is added to the totals of its flow first. All that is reported is the sum of both, by the same code.
type Book struct {
	ring  ring
	flows flows
	past  []tally // by flow; of the records that the ring has forgotten
	feeds []*Feed

	groups map[int32][]int32 // by the flow of what goes to a group: the flows of its members' accounts
}

// New returns an empty Book. It takes next to no memory until packets come.
func New(c Config) *Book {
	return &Book{ring: newRing(or(c.Records, DefaultRecords)), flows: newFlows(or(c.Flows, DefaultFlows), c.Seed)}
}

func or(value, otherwise int) int {
	if value <= 0 {
		return otherwise
	}
	return value
}

// Begin opens the account of a packet that a host sends at time t: it sets the packet's Number, Flow and Sent. A
// super-packet takes a number for each of its segments, and its own Number is that of the first.
func (b *Book) Begin(p *packet.Packet, t int64) {
	p.Number, p.Flow, p.Sent = b.ring.next, b.flows.of(p.Data), t
	length := int32(len(p.Data))
	segments := p.Segments()
	if segments == 1 {
		b.begin(p, length)
		return
	}
	// All segments repeat the header and carry the same payload, but for the last, which carries what is left.
	wire := int32(p.WireBytes())
	header := (wire - length) / int32(segments-1)
	whole := header + int32(p.VNet.SegmentSize)
	for range segments - 1 {
		b.begin(p, whole)
	}
	b.begin(p, wire-int32(segments-1)*whole)
}

// congestionExperienced is the mark that a router sets (RFC 3168 section 5).
const congestionExperienced = 3

// begin sets the fields of the next record one by one: to copy a whole one that was just made takes 10 ns more.
func (b *Book) begin(p *packet.Packet, length int32) {
	r := b.ring.slot(b.ring.next)
	if r.Number > 0 {
		b.tally(r.Flow).forget(r)
	}
	r.Number, r.Flow, r.Bytes = b.ring.next, p.Flow, length
	r.Sent, r.Due, r.Left = p.Sent, 0, 0
	r.Link, r.Cause = -1, packet.Kept
	r.Duplicates, r.parts, r.Flags = 0, 0, 0
	if packet.ECN(p.Data) == congestionExperienced {
		r.Flags = sentMarked
	}
	b.ring.next++
}

// tally returns the past of a flow.
func (b *Book) tally(flow int32) *tally {
	for int(flow) >= len(b.past) {
		b.past = append(b.past, tally{})
	}
	return &b.past[flow]
}

// Delivered says that a packet, a fragment or some segments of one reached the host it was meant for: when that was due, and
// when it was really handed over. A packet that ends inside the lab leaves when due. Packets without a number, which the lab
// itself made, are not accounted for.
func (b *Book) Delivered(p *packet.Packet, due, left int64) {
	if p.Number == 0 {
		return
	}
	if p.Members != 0 {
		b.eachMember(p, func(one *packet.Packet) { b.Delivered(one, due, left) })
		return
	}
	segments := p.Segments()
	for i := range uint64(segments) {
		if r := b.ring.find(p.Number + i); r != nil {
			b.arrive(r, p, due, left)
		} else {
			b.tally(p.Flow).deliveredLate(p, segments, due, left)
		}
	}
	if b.feeds != nil {
		e := endToEnd(p, segments)
		e.Due, e.Left, e.Fate = due, left, Delivered
		b.tell(&e)
	}
}

func (b *Book) arrive(r *Record, p *packet.Packet, due, left int64) {
	if p.Spoilt {
		r.Flags |= Corrupted
	}
	if packet.ECN(p.Data) == congestionExperienced && r.Flags&sentMarked == 0 {
		r.Flags |= Marked
	}
	if part := partOf(p, r); part > 0 {
		r.parts += part
		// The fragments' payloads add up to the packet's: until then, or once one was lost, it is not there.
		if int32(r.parts) < r.Bytes-int32(headerLength(p.Data)) || r.Lost() {
			return
		}
		r.parts = 0
	}
	if r.Flags&Arrived != 0 {
		r.Duplicates = uint16(min(int(r.Duplicates)+1, 1<<16-1))
		return
	}
	r.Flags |= Arrived
	r.Due, r.Left, r.Cause, r.Link = due, left, packet.Kept, -1
	if b.flows.overtaken(r.Flow, r.Number) {
		r.Flags |= Reordered
	}
}

// partOf returns how many payload bytes of its packet a fragment carries, or 0 for a packet that is as it was sent, be that
// a fragment or not.
func partOf(p *packet.Packet, r *Record) uint16 {
	if int32(len(p.Data)) >= r.Bytes || p.Segments() > 1 || !packet.IsFragment(p.Data) {
		return 0
	}
	return uint16(len(p.Data) - headerLength(p.Data))
}

// headerLength returns the length of an IPv4 header in bytes: routers fragment no other packets.
func headerLength(b []byte) int { return int(b[0]&0x0f) * 4 }

// Dropped says that a packet, a fragment or some segments of one went no further at time t, on which direction of which link
// (-1: at a router or host) and why. Where another copy arrives, before or after, the packet counts as delivered.
func (b *Book) Dropped(p *packet.Packet, t int64, cause packet.Cause, link int) {
	if p.Number == 0 {
		return
	}
	if p.Members != 0 {
		b.eachMember(p, func(one *packet.Packet) { b.Dropped(one, t, cause, link) })
		return
	}
	segments := p.Segments()
	for i := range uint64(segments) {
		if r := b.ring.find(p.Number + i); r == nil {
			b.tally(p.Flow).lostLate(cause)
		} else if r.UnderWay() {
			r.Cause, r.Link, r.Due = cause, int32(link), t
			if p.Spoilt {
				r.Flags |= Corrupted
			}
		}
	}
	if b.feeds != nil {
		e := endToEnd(p, segments)
		e.Due, e.Fate, e.Cause = t, Dropped, cause
		b.tell(&e)
	}
}

// Keys returns the flows seen so far, by number. They are never changed, so that the list may be read by another goroutine
// while the Book goes on; the flow after the last, if the table is full, is "others".
func (b *Book) Keys() []packet.Key { return b.flows.keys }

package record

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// Event is something that happened to a packet: on one direction of a link, or end to end.
type Event struct {
	Number    uint64
	Came      int64 // when it came to the link, or entered the lab
	Due       int64 // when it was due at the far end, or was dropped
	Left      int64 // when the emulator handed it to a host; 0 if it did not
	Flow      int32
	Direction int32 // of a link; EndToEnd
	Bytes     int32 // IP length, that of all segments
	Segments  int32 // how many packets it stands for
	Fate      Fate
	Cause     packet.Cause
}

// EndToEnd stands for the direction where an Event is about the whole way.
const EndToEnd = -1

// Fate is what happened.
type Fate uint8

// The fates. A copy that a link made has one of its own, under the same number.
const (
	Delivered Fate = iota
	Dropped
)

func (f Fate) String() string { return [...]string{"delivered", "dropped"}[f] }

// Feed hands events from the goroutine that keeps the Book to one that reads them. It never waits for the reader: what
// finds it full is missed, and counted.
//
//	            tail                head
//	push --> [ e e e e . . . . . . e e e ] --> Drain      a ring; only push moves tail, only Drain moves head
type Feed struct {
	ends, links bool
	ring        []Event
	head, tail  atomic.Uint64
	missed      atomic.Uint64
	wake        chan struct{}
}

// NewFeed returns a feed that holds up to capacity events, rounded up to a power of two, of packets end to end, on links, or
// both.
func NewFeed(capacity int, ends, links bool) *Feed {
	size := 1 << bits.Len(uint(max(capacity, 1)-1))
	return &Feed{ends: ends, links: links, ring: make([]Event, size), wake: make(chan struct{}, 1)}
}

// Follow has events put into a feed from now on. It belongs to the Book's own goroutine, as do Unfollow and Passed.
func (b *Book) Follow(f *Feed) { b.feeds = append(b.feeds, f) }

// Unfollow ends that. Without feeds, following costs nothing but a test for nil.
func (b *Book) Unfollow(f *Feed) {
	b.feeds = slices.DeleteFunc(b.feeds, func(g *Feed) bool { return g == f })
	if len(b.feeds) == 0 {
		b.feeds = nil
	}
}

// Passed tells the followers what became of a packet on one direction of a link.
func (b *Book) Passed(direction int32, p *packet.Packet, due, left int64, fate Fate, cause packet.Cause) {
	if b.feeds != nil {
		b.passed(direction, p, due, left, fate, cause)
	}
}

func (b *Book) passed(direction int32, p *packet.Packet, due, left int64, fate Fate, cause packet.Cause) {
	e := endToEnd(p, p.Segments())
	e.Direction, e.Came, e.Due, e.Left, e.Fate, e.Cause = direction, p.Came, due, left, fate, cause
	b.tell(&e)
}

// endToEnd begins the event of a packet.
func endToEnd(p *packet.Packet, segments int) Event {
	return Event{
		Number: p.Number, Flow: p.Flow, Came: p.Sent, Direction: EndToEnd,
		Bytes: int32(p.WireBytes()), Segments: int32(segments),
	}
}

func (b *Book) tell(e *Event) {
	for _, f := range b.feeds {
		if e.Direction == EndToEnd && f.ends || e.Direction != EndToEnd && f.links {
			f.push(e)
		}
	}
}

func (f *Feed) push(e *Event) {
	tail := f.tail.Load()
	if tail-f.head.Load() == uint64(len(f.ring)) {
		f.missed.Add(1)
		return
	}
	f.ring[tail&uint64(len(f.ring)-1)] = *e
	f.tail.Store(tail + 1)
	if len(f.wake) == 0 {
		f.wake <- struct{}{} // has room: nobody else sends
	}
}

// Drain moves events into a list, the oldest first, and returns how many. It may be called by one goroutine beside the
// Book's.
func (f *Feed) Drain(into []Event) int {
	head := f.head.Load()
	n := min(uint64(len(into)), f.tail.Load()-head)
	for i := range n {
		into[i] = f.ring[(head+i)&uint64(len(f.ring)-1)]
	}
	f.head.Store(head + n)
	return int(n)
}

// Ready receives after events have come: then call Drain until it returns 0.
func (f *Feed) Ready() <-chan struct{} { return f.wake }

// Missed returns how many events found the feed full.
func (f *Feed) Missed() uint64 { return f.missed.Load() }

// Line is an Event as a line of JSON shows it, its numbers replaced by names.
type Line struct {
	Packet    uint64   `json:"packet"`
	Segments  int32    `json:"segments,omitempty"` // where there is more than one
	Flow      string   `json:"flow,omitempty"`
	Link      []string `json:"link,omitempty"`      // the two nodes; none: end to end
	Direction string   `json:"direction,omitempty"` // "forward" or "reverse"
	Came      int64    `json:"came_ns"`
	Due       int64    `json:"due_ns"`
	Left      int64    `json:"left_ns,omitempty"`
	Fate      string   `json:"fate"`
	Cause     string   `json:"cause,omitempty"`
	Bytes     int32    `json:"bytes"`
}

// Line fills in what the event knows; the flow's name is FlowName's, and Link and Direction are the caller's to name.
func (e *Event) Line(keys []packet.Key) Line {
	l := Line{
		Packet: e.Number, Flow: FlowName(keys, e.Flow), Came: e.Came, Due: e.Due, Left: e.Left,
		Fate: e.Fate.String(), Bytes: e.Bytes,
	}
	if e.Segments > 1 {
		l.Segments = e.Segments
	}
	if e.Cause != packet.Kept {
		l.Cause = e.Cause.String()
	}
	return l
}

// FlowName names a flow, given Book.Keys: "udp 10.0.0.1:5 > 10.0.2.2:7", "others" beyond the table, "" for none.
func FlowName(keys []packet.Key, flow int32) string {
	switch {
	case flow < 0:
		return ""
	case int(flow) >= len(keys):
		return "others"
	}
	return keys[flow].String()
}

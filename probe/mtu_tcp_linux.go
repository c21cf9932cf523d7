package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/proto/changed"
	"github.com/pathwise-net/pathwise/sock"
)

// mtuSegments are TCP segments of a connection that the kernel opened, of bytes that stand before the first one of the stream, so that no program at the far end ever
// sees them. To the far kernel they are copies of what it had long before: it says so at once (RFC 9293 section 3.10.7.4), and names the bytes (D-SACK, RFC 2883).
//
//	this host                                     target
//	    | ---- SYN ---------------------------------> |
//	    | <--- SYN ACK ------------------------------ |
//	    | ---- ACK ---------------------------------> |   by the kernel
//	    | ---- seq = first - 1 - index - n, n bytes -> |   by this program, any number of times
//	    | <--- ACK first, SACK [seq, seq + n) ------- |
//
// So no segment is limited by the MSS of the far end, or by what this host's kernel has learnt of the path.
type mtuSegments struct {
	from, to netip.AddrPort
	opens    []mtuOpening // one, but for strangers, whose answers to the SYN are taken in turn until a segment is answered
	sent     []mtuSegment // by index
}

// mtuOpening is what a SYN ACK says: the sequence numbers of the first byte of the stream, and of the far end's.
type mtuOpening struct{ first, ack uint32 }

// mtuSegment is the bytes of a segment, up to the one before end.
type mtuSegment struct {
	mtuOpening
	seq, end uint32
}

// mtuSettling is how long the kernel may take for what this program has read already: both get a segment at once.
const mtuSettling = 5 * time.Millisecond

// segmentLeast is the least data of a segment: what any way lets pass.
const segmentLeast = 8

// optionBlocks is the kind of the option that names bytes which came: their first, and the one behind their last (RFC 2018).
const optionBlocks = 5

// openMTUSegments is a mtuWire by TCP, to a port; nil where nobody listens there, or the far end names no bytes that it got twice. The kernel sends its SYN again after
// one second and after three, and is given that time where it is the only port to try.
func openMTUSegments(port int, patience time.Duration) func(context.Context, way) (mtuWire, error) {
	return func(ctx context.Context, w way) (mtuWire, error) {
		s, own, err := sock.OpenSYN(netip.AddrPortFrom(w.from, 0))
		if err != nil {
			return nil, err
		}
		m := &mtuSegments{from: netip.AddrPortFrom(w.from, own), to: netip.AddrPortFrom(w.to, uint16(port))}
		defer context.AfterFunc(ctx, s.Interrupt)()
		if err = s.BeginConnect(m.to); err == nil {
			err = m.opened(s, time.Now().Add(patience))
		}
		if err != nil {
			s.Close()
			if errors.Is(err, errNotOpened) {
				err = nil
			}
			return nil, err
		}
		return newMTUSocket(s, m, m.to)
	}
}

// errNotOpened says that no connection was to be had.
var errNotOpened = errors.New("not opened")

// opened waits until the kernel has the connection, and keeps what SYN ACKs say. That the kernel alone knows the sequence number of its SYN does not matter: a SYN ACK or
// a reset of a stranger, who does not know it either, does not end its wait.
func (m *mtuSegments) opened(s *sock.Socket, until time.Time) error {
	for wait := until; ; {
		event, err := s.Receive(wait)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("receive: %w", err)
		}
		now := time.Now()
		if err != nil && now.Before(wait) { // it was interrupted
			return errNotOpened
		}
		if answers := m.answers(event); err == nil && now.Before(until) {
			if answers {
				wait = now.Add(mtuSettling)
			}
			continue
		}
		open, refused := s.Connected()
		switch {
		case open && len(m.opens) > 0:
			return nil
		case open, refused != nil, !now.Before(until):
			return errNotOpened
		}
		wait = until // it was nothing that settles the matter
	}
}

// answers keeps a SYN ACK that permits to name bytes, and says whether an event is a segment that the kernel may make something of.
func (m *mtuSegments) answers(event sock.Event) bool {
	e, is := event.(sock.Packet)
	if !is || e.From.Addr() != m.to.Addr() {
		return false
	}
	a, ok := parseSegment(e.Data)
	if !ok || a.from != m.to.Port() || a.to != m.from.Port() {
		return false
	}
	opening := mtuOpening{a.ack, a.seq + 1}
	_, permitted := changed.Option(e.Data, changed.OptionSACK)
	if a.flags&(flagSYN|flagACK|flagRST) == flagSYN|flagACK && permitted && len(m.opens) < mtuTries && !slices.Contains(m.opens, opening) {
		m.opens = append(m.opens, opening)
	}
	return true
}

func (m *mtuSegments) least() int { return ipHeader(m.to.Addr()) + segmentHeader + segmentLeast }

func (m *mtuSegments) request(index, size int) []byte {
	data := size - ipHeader(m.to.Addr()) - segmentHeader
	for len(m.sent) <= index {
		m.sent = append(m.sent, mtuSegment{})
	}
	opening := m.opens[index%len(m.opens)]
	end := opening.first - 1 - uint32(index)
	m.sent[index] = mtuSegment{opening, end - uint32(data), end}
	s := segment{from: m.from.Port(), to: m.to.Port(), seq: end - uint32(data), ack: opening.ack, flags: flagACK}
	return s.marshalWith(nil, make([]byte, data), m.from.Addr(), m.to.Addr())
}

func (m *mtuSegments) answered(packet []byte, from netip.Addr, sent int) (index int, ok bool) {
	a, ok := parseSegment(packet)
	blocks, _ := changed.Option(packet, optionBlocks)
	if !ok || from != m.to.Addr() || a.from != m.to.Port() || a.to != m.from.Port() || a.flags&flagACK == 0 || len(blocks) < 8 {
		return 0, false
	}
	begin, end := binary.BigEndian.Uint32(blocks), binary.BigEndian.Uint32(blocks[4:])
	index = slices.IndexFunc(m.sent[:min(sent, len(m.sent))], func(s mtuSegment) bool { return s.seq == begin && s.end == end })
	if index < 0 {
		return 0, false
	}
	m.opens = []mtuOpening{m.sent[index].mtuOpening}
	return index, true
}

func (m *mtuSegments) quoted(packet []byte, sent int) (index int, ours, ok bool) {
	q, ok := parseSegment(packet)
	if !ok || q.from != m.from.Port() || q.to != m.to.Port() {
		return 0, false, false
	}
	index = slices.IndexFunc(m.sent[:min(sent, len(m.sent))], func(s mtuSegment) bool { return s.seq == q.seq })
	if index < 0 {
		return 0, false, false
	}
	return index, true, true
}

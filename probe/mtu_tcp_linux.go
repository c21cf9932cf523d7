package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
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
	from, to   netip.AddrPort
	first, ack uint32   // sequence numbers: of the first byte of the stream, and of the far end's
	seqs       []uint32 // of each segment
	ends       []uint32
}

// segmentLeast is the least data of a segment: what any way lets pass.
const segmentLeast = 8

// optionBlocks is the kind of the option that names bytes which came: their first, and the one behind their last (RFC 2018).
const optionBlocks = 5

// openMTUSegments is a mtuWire by TCP, to a port; nil where nobody listens there, or the far end names no bytes that it got twice. The kernel sends its SYN again after
// one second and after three, and is given that time where it is the only port to try.
func openMTUSegments(port int, patience time.Duration) func(context.Context, way) (mtuWire, error) {
	return func(ctx context.Context, w way) (mtuWire, error) {
		s, own, err := sock.OpenSYN(w.from)
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

// opened waits for the SYN ACK.
func (m *mtuSegments) opened(s *sock.Socket, until time.Time) error {
	for {
		event, err := s.Receive(until)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return errNotOpened
		} else if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		e, is := event.(sock.Packet)
		if !is || e.From.Addr() != m.to.Addr() {
			continue
		}
		a, ok := parseSegment(e.Data)
		switch {
		case !ok || a.from != m.to.Port() || a.to != m.from.Port():
		case a.flags&flagRST != 0:
			return errNotOpened
		case a.flags&(flagSYN|flagACK) == flagSYN|flagACK:
			m.first, m.ack = a.ack, a.seq+1
			if _, permitted := changed.Option(e.Data, changed.OptionSACK); !permitted {
				return errNotOpened
			}
			return nil
		}
	}
}

func (m *mtuSegments) least() int { return ipHeader(m.to.Addr()) + segmentHeader + segmentLeast }

func (m *mtuSegments) request(index, size int) []byte {
	data := size - ipHeader(m.to.Addr()) - segmentHeader
	end := m.first - 1 - uint32(index)
	for len(m.seqs) <= index {
		m.seqs, m.ends = append(m.seqs, 0), append(m.ends, 0)
	}
	m.seqs[index], m.ends[index] = end-uint32(data), end
	s := segment{from: m.from.Port(), to: m.to.Port(), seq: m.seqs[index], ack: m.ack, flags: flagACK}
	return s.marshalWith(nil, make([]byte, data), m.from.Addr(), m.to.Addr())
}

func (m *mtuSegments) answered(packet []byte, from netip.Addr, sent int) (index int, ok bool) {
	a, ok := parseSegment(packet)
	blocks, _ := changed.Option(packet, optionBlocks)
	if !ok || from != m.to.Addr() || a.from != m.to.Port() || a.to != m.from.Port() || a.flags&flagACK == 0 || len(blocks) < 8 {
		return 0, false
	}
	end := binary.BigEndian.Uint32(blocks[4:])
	index = int(m.first - 1 - end)
	return index, index >= 0 && index < min(sent, len(m.ends)) && binary.BigEndian.Uint32(blocks) == m.seqs[index]
}

func (m *mtuSegments) quoted(packet []byte, sent int) (index int, ours, ok bool) {
	q, ok := parseSegment(packet)
	if !ok || q.from != m.from.Port() || q.to != m.to.Port() {
		return 0, false, false
	}
	for index := range min(sent, len(m.seqs)) {
		if m.seqs[index] == q.seq {
			return index, true, true
		}
	}
	return 0, false, false
}

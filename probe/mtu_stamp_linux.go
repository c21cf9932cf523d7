package probe

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/sock"
)

// mtuStamps are packets of STAMP, of which a reflector sends each back. One that knows how to (RFC 10052) is asked for answers as short as they can be, so that the
// way there alone is measured, or for answers of a size, of which nothing may be cut off either; others answer with as many bytes as came.
//
//	this host                                reflector
//	    | ---- 1400 bytes, answer with 60 --->  |     the way there
//	    | <--- 60 bytes ----------------------  |
//	    or
//	    | ---- 1400 bytes, answer with 1400 ->  |     the way back: up to what comes there is known to come
//	    | <--- 1400 bytes --------------------  |
type mtuStamps struct {
	header  int // bytes of the headers of IP and UDP
	session uint16
	sent    []control.Timestamp // of each packet, which nobody off the path can know
	asked   []int               // bytes of payload that each was to be answered with
	back    int                 // size of packets to send, where those of the way back are measured; 0: the way there is
	obeyed  bool                // an answer came that was as short as it was to be
}

// stampShort is the payload of the shortest answer that has what was asked in it.
const stampShort = stamp.LeastBytes + tlvHeader + stamp.ControlBytes

// openMTUStamp is a mtuWire by STAMP, to a port.
func openMTUStamp(port int) func(context.Context, way) (mtuWire, error) {
	return func(_ context.Context, w way) (mtuWire, error) {
		s, err := sock.OpenUDP(w.to.Is6())
		if err != nil {
			return nil, err
		}
		packets := &mtuStamps{header: ipHeader(w.to) + udpHeader, session: uint16(1 + rand.IntN(math.MaxUint16))}
		return newMTUSocket(s, packets, netip.AddrPortFrom(w.to, uint16(port)))
	}
}

func (m *mtuStamps) least() int { return m.header + stampShort }

func (m *mtuStamps) request(index, size int) []byte {
	answer := stampShort
	if m.back > 0 {
		size, answer = max(m.least(), min(size, m.back)), size-m.header
	}
	b := make([]byte, stamp.LeastBytes, size)
	value := make([]byte, stamp.ControlBytes)
	stamp.Control{Bytes: answer}.Put(value)
	b = stamp.AppendTLV(b, stamp.TLV{Type: stamp.ReflectedControl, Value: value})
	if padding := size - m.header - len(b) - tlvHeader; padding >= 0 {
		b = stamp.AppendTLV(b, stamp.TLV{Type: stamp.ExtraPadding, Value: make([]byte, padding)})
	} else {
		b = append(b, make([]byte, size-m.header-len(b))...)
	}
	for len(m.sent) <= index {
		m.sent, m.asked = append(m.sent, 0), append(m.asked, 0)
	}
	m.sent[index], m.asked[index] = control.TimestampOf(time.Now()), answer
	stamp.NewSealer(nil).SealProbe(b, stamp.Probe{Sequence: uint32(index), Sent: m.sent[index], Error: control.Unknown, Session: m.session})
	return b
}

func (m *mtuStamps) answered(packet []byte, _ netip.Addr, sent int) (index int, ok bool) {
	a, ok := stamp.ReadAnswer(packet)
	index = int(a.Probe.Sequence)
	if !ok || index >= min(sent, len(m.sent)) || a.Probe.Sent != m.sent[index] {
		return 0, false
	}
	as := len(packet) == m.asked[index] || len(packet) < m.asked[index] && m.asked[index]-len(packet) < tlvHeader
	if m.back == 0 && as {
		m.obeyed = true
	}
	return index, m.back == 0 || as
}

func (m *mtuStamps) quoted(packet []byte, sent int) (index int, ours, ok bool) {
	const read = 12 // sequence, and the time that it left
	if len(packet) < read {
		return 0, false, false // it does not say which packet it is about
	}
	index = int(binary.BigEndian.Uint32(packet))
	ok = index < min(sent, len(m.sent)) && control.Timestamp(binary.BigEndian.Uint64(packet[4:])) == m.sent[index]
	return index, ok, ok
}

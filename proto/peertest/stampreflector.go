package peertest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"time"
)

// STAMPReflector is a Session-Reflector of STAMP.
type STAMPReflector struct {
	Key      []byte // nil means open mode
	TLVKey   []byte // of the HMAC TLV; nil means Key
	Stateful bool   // counts its own packets, otherwise copies the sender's numbers (RFC 8762 section 4)

	count    uint32          // packets received, and sent
	previous STAMPReflection // the last, for Follow-Up Telemetry
}

// Reflect answers packets until shortly after the context is done, and returns them with the sender's first violation. A packet with
// a violation is not answered, but one whose TLVs are at fault is, with flags that say so.
func (s *STAMPReflector) Reflect(ctx context.Context, socket *Socket) (all []STAMPPacket, err error) {
	defer context.AfterFunc(ctx, func() { socket.SetReadDeadline(time.Now().Add(grace)) })()
	for {
		d, err := socket.Read()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return all, nil
		} else if err != nil {
			return all, err
		}
		p, err := DecodeSTAMP(d.Octets, s.Key)
		if err != nil {
			return all, err
		}
		for _, t := range p.TLVs {
			if t.Flags != Unrecognized {
				return all, violated("RFC 8972 section 4", "a sender has flags %#x in a TLV of type %d, and must set U alone", t.Flags, t.Type)
			}
		}
		all = append(all, p)
		s.count++
		r := STAMPReflection{SSID: p.SSID, Reflection: Reflection{Seq: p.Seq, Error: someError, Received: d.At, SenderSeq: p.Seq,
			SenderSent: p.Sent, SenderError: p.Error, SenderTTL: d.TTL}}
		if s.Stateful {
			r.Seq = s.count - 1
		}
		var tos byte
		r.TLVs, tos = s.answerTLVs(p, d, socket.LocalAddr().String(), r.Seq)
		r.Sent = Stamp(time.Now())
		if err := socket.Write(r.Encode(s.Key), d.From, tos); err != nil {
			return all, err
		}
		s.previous = r
	}
}

// answerTLVs are the TLVs of a reflection, and its traffic class.
func (s *STAMPReflector) answerTLVs(p STAMPPacket, d Datagram, local string, seq uint32) (all []TLV, tos byte) {
	key := s.TLVKey
	if key == nil {
		key = s.Key
	}
	broken := key != nil && checkTLVs(p.Seq, p.TLVs, key, s.Key != nil && len(p.TLVs) > 0) != nil
	stopped := false
	for _, t := range p.TLVs {
		t.Value = bytes.Clone(t.Value)
		t.Flags = 0
		switch {
		case broken:
			t.Flags = Integrity
		case stopped || t.malformed():
			t.Flags, stopped = Malformed, true
		case t.Type == ClassOfService:
			tos = t.Value[0] & 0xfc
			s.answer(&t, d, local)
		case t.Type < ExtraPadding || t.Type > HMAC || t.Type == HMAC && key == nil:
			t.Flags = Unrecognized
		default:
			s.answer(&t, d, local)
		}
		all = append(all, t)
	}
	if !broken && !stopped && key != nil {
		signTLVs(seq, all, key)
	}
	return all, tos
}

// answer writes what a reflector knows into a TLV.
func (s *STAMPReflector) answer(t *TLV, d Datagram, local string) {
	switch t.Type {
	case Location:
		answerLocation(t.Value, d.From, netip.MustParseAddrPort(local))
	case TimestampInformation:
		copy(t.Value, []byte{5, 2, 5, 2}) // a local free-running clock, time stamps of software (sections 5.5 and 5.6)
	case ClassOfService:
		dscp, ecn := uint16(d.TOS>>2), uint16(d.TOS&3)
		binary.BigEndian.PutUint16(t.Value, binary.BigEndian.Uint16(t.Value)&0xfc00|dscp<<4|ecn<<2)
	case DirectMeasurement:
		binary.BigEndian.PutUint32(t.Value[4:], s.count)
		binary.BigEndian.PutUint32(t.Value[8:], s.count)
	case FollowUpTelemetry:
		if s.Stateful && s.previous.Sent != 0 {
			binary.BigEndian.PutUint32(t.Value, s.previous.Seq)
			binary.BigEndian.PutUint64(t.Value[4:], uint64(s.previous.Sent))
			t.Value[12] = 2
		}
	}
}

// answerLocation writes ports, and addresses into the sub-TLVs for them (section 4.2): a sender asks for a Destination or a Source IP
// Address (types 4 and 7), and the reflector makes of it one of IPv4 (5 and 8) or IPv6 (6 and 9).
func answerLocation(value []byte, from, local netip.AddrPort) {
	binary.BigEndian.PutUint16(value, local.Port())
	binary.BigEndian.PutUint16(value[2:], from.Port())
	for b := value[4:]; len(b) >= 4; {
		length := int(binary.BigEndian.Uint16(b[2:]))
		if length > len(b)-4 {
			b[0] = Malformed
			return
		}
		address := local.Addr()
		switch b[1] {
		case 7:
			address = from.Addr()
			fallthrough
		case 4:
			if length != 16 {
				b[0] = Malformed
				break
			}
			b[0], b[1] = 0, b[1]+1+octet(address.Is6())
			clear(b[4:20])
			copy(b[4:], address.AsSlice())
		}
		b = b[4+length:]
	}
}

package peertest

import (
	"bytes"
	"fmt"
	"net/netip"
	"time"
)

// STAMPSender is a Session-Sender of STAMP.
type STAMPSender struct {
	Key    []byte // nil means open mode
	TLVKey []byte // of the HMAC TLV; nil means Key
	SSID   uint16
	TOS    byte // of the packets sent
}

// STAMPExchange is a packet of a Session-Sender and its reflection.
type STAMPExchange struct {
	Sent       STAMPPacket
	Reflection STAMPReflection
	Back       Timestamp
	TTL, TOS   byte // of the reflection
}

// Request is a TLV as a sender sends it: with the U flag set (RFC 8972 section 4). Without a value it has zeros of the length that its
// type has.
func Request(kind TLVType, value ...byte) TLV {
	if len(value) == 0 {
		value = make([]byte, lengths[kind])
	}
	return TLV{Flags: Unrecognized, Type: kind, Value: value}
}

// Ping sends a packet, with its HMAC TLV signed if it has one, waits for the reflection, and checks that the two belong together.
// What the reflector wrote into the TLVs is for the caller to judge; their order, types and lengths are checked.
func (s STAMPSender) Ping(socket *Socket, to netip.AddrPort, seq uint32, tlvs ...TLV) (STAMPExchange, error) {
	key := s.TLVKey
	if key == nil {
		key = s.Key
	}
	signTLVs(seq, tlvs, key)
	p := STAMPPacket{seq, Stamp(time.Now()), someError, s.SSID, tlvs}
	octets := p.Encode(s.Key)
	if err := socket.Write(octets, to, s.TOS); err != nil {
		return STAMPExchange{}, err
	}
	d, err := socket.Read()
	if err != nil {
		return STAMPExchange{}, fmt.Errorf("read reflection of packet %d: %w", seq, err)
	}
	r, err := DecodeSTAMPReflection(d.Octets, s.Key)
	e := STAMPExchange{p, r, d.At, d.TTL, d.TOS}
	if err != nil {
		return e, err
	}
	if len(d.Octets) != len(octets) {
		return e, violated("RFC 8762 section 4.3", "a reflection has %d octets, want %d as the packet has", len(d.Octets), len(octets))
	}
	return e, first(p.checkReflection(r), p.checkTLVs(r, key))
}

// checkReflection reports a reflection that is not that of a packet.
func (p STAMPPacket) checkReflection(r STAMPReflection) error {
	const section = "RFC 8762 section 4.3"
	if r.SenderSeq != p.Seq || r.SenderSent != p.Sent || r.SenderError != p.Error {
		return violated(section, "the Sender's fields are %d, %#x, %#x and must be copies of %d, %#x, %#x",
			r.SenderSeq, r.SenderSent, r.SenderError, p.Seq, p.Sent, p.Error)
	}
	if r.Received > r.Sent {
		return violated(section, "Receive Timestamp %v is after Timestamp %v", r.Received.Time(), r.Sent.Time())
	}
	if r.SSID != p.SSID {
		return violated("RFC 8972 section 3", "the SSID is %d, and must be a copy of %d", r.SSID, p.SSID)
	}
	return nil
}

// checkTLVs reports TLVs of a reflection that are not those of the packet, and an HMAC TLV that is wrong without the I flag.
func (p STAMPPacket) checkTLVs(r STAMPReflection, key []byte) error {
	const section = "RFC 8972 section 4"
	if len(r.TLVs) != len(p.TLVs) {
		return violated(section, "%d TLVs come back of %d", len(r.TLVs), len(p.TLVs))
	}
	failed := false
	for i, got := range r.TLVs {
		sent := p.TLVs[i]
		if got.Type != sent.Type || len(got.Value) != len(sent.Value) || got.Cut != sent.Cut {
			return violated(section, "TLV %d comes back as type %d of %d octets, and was type %d of %d", i, got.Type, len(got.Value), sent.Type, len(sent.Value))
		}
		if got.Flags != 0 && !bytes.Equal(got.Value, sent.Value) {
			return violated(section, "TLV %d has flags %#x and comes back as % x, and must be a copy of % x", i, got.Flags, got.Value, sent.Value)
		}
		failed = failed || got.Flags&(Integrity|Malformed) != 0
	}
	if failed {
		return nil // the TLVs are copies, and so is the HMAC
	}
	return checkTLVs(r.Seq, r.TLVs, key, false)
}

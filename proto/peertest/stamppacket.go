package peertest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// STAMPPacket is a test packet of a Session-Sender of STAMP (RFC 8762 section 4.2, RFC 8972 section 3):
//
//	open             Sequence Number (4) | Timestamp (8) | Error Estimate (2) | SSID (2) | MBZ (28)
//	authenticated    Sequence Number (4) | MBZ (12) | Timestamp (8) | Error Estimate (2) | SSID (2) | MBZ (68) | HMAC (16)
//
// TLVs follow. The HMAC is the one of SHA-256 over all before it, truncated to 16 octets (RFC 8762 section 4.4).
type STAMPPacket struct {
	Seq   uint32
	Sent  Timestamp
	Error ErrorEstimate
	SSID  uint16
	TLVs  []TLV
}

// STAMPReflection is a test packet of a Session-Reflector of STAMP (RFC 8762 section 4.3, RFC 8972 section 3):
//
//	open             Sequence Number (4) | Timestamp (8) | Error Estimate (2) | SSID (2) | Receive Timestamp (8)
//	                 Sender's: Sequence Number (4) | Timestamp (8) | Error Estimate (2) | MBZ (2) | TTL (1) | MBZ (3)
//	authenticated    Sequence Number (4) | MBZ (12) | Timestamp (8) | Error Estimate (2) | SSID (2) | MBZ (4)
//	                 Receive Timestamp (8) | MBZ (8) | Sender's: Sequence Number (4) | MBZ (12)
//	                 Timestamp (8) | Error Estimate (2) | MBZ (6) | TTL (1) | MBZ (15) | HMAC (16)
type STAMPReflection struct {
	Reflection // without padding
	SSID       uint16
	TLVs       []TLV
}

const (
	openSTAMP          = 44  // octets without TLVs
	authenticatedSTAMP = 112 // the same with authentication
)

// stampHMAC is the HMAC over some octets.
func stampHMAC(key, octets []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(octets)
	return mac.Sum(nil)[:16]
}

// Encode makes the octets of a packet. A nil key means open mode.
func (p STAMPPacket) Encode(key []byte) []byte {
	b := make([]byte, openSTAMP)
	at := 4
	if key != nil {
		b, at = make([]byte, authenticatedSTAMP), 16
	}
	binary.BigEndian.PutUint32(b, p.Seq)
	binary.BigEndian.PutUint64(b[at:], uint64(p.Sent))
	binary.BigEndian.PutUint16(b[at+8:], uint16(p.Error))
	binary.BigEndian.PutUint16(b[at+10:], p.SSID)
	if key != nil {
		copy(b[96:], stampHMAC(key, b[:96]))
	}
	return append(b, encodeTLVs(p.TLVs)...)
}

// DecodeSTAMP reads a packet of a sender, and its HMAC. What must be zero on transmission is to be ignored on receipt (RFC 8762
// section 4.2.1), but the peer says so all the same.
func DecodeSTAMP(b, key []byte) (p STAMPPacket, err error) {
	const section = "RFC 8762 section 4.2"
	length, at := openSTAMP, 4
	if key != nil {
		length, at = authenticatedSTAMP, 16
	}
	if len(b) < length {
		return p, violated(section, "a packet has %d octets, want %d at least", len(b), length)
	}
	p = STAMPPacket{binary.BigEndian.Uint32(b), Timestamp(binary.BigEndian.Uint64(b[at:])),
		ErrorEstimate(binary.BigEndian.Uint16(b[at+8:])), binary.BigEndian.Uint16(b[at+10:]), nil}
	p.TLVs, err = decodeTLVs(b[length:])
	if key == nil {
		return p, first(err, zero(section, "MBZ after SSID", b[16:44]))
	}
	return p, first(checkSTAMP(b, key), err, zero(section, "MBZ after Sequence Number", b[4:16]), zero(section, "MBZ after SSID", b[28:96]))
}

// checkSTAMP checks the HMAC of a packet without its TLVs.
func checkSTAMP(b, key []byte) error {
	if got, want := b[96:112], stampHMAC(key, b[:96]); !bytes.Equal(got, want) {
		return violated("RFC 8762 section 4.4", "the HMAC is % x, want % x", got, want)
	}
	return nil
}

// Encode makes the octets of a reflection. A nil key means open mode.
func (r STAMPReflection) Encode(key []byte) []byte {
	r.Padding = nil
	var b []byte
	if key == nil {
		b = append(r.Reflection.Encode(Open, Keys{}), 0, 0, 0)
		binary.BigEndian.PutUint16(b[14:], r.SSID)
		return append(b, encodeTLVs(r.TLVs)...)
	}
	b = make([]byte, authenticatedSTAMP)
	binary.BigEndian.PutUint32(b, r.Seq)
	binary.BigEndian.PutUint64(b[16:], uint64(r.Sent))
	binary.BigEndian.PutUint16(b[24:], uint16(r.Error))
	binary.BigEndian.PutUint16(b[26:], r.SSID)
	binary.BigEndian.PutUint64(b[32:], uint64(r.Received))
	binary.BigEndian.PutUint32(b[48:], r.SenderSeq)
	binary.BigEndian.PutUint64(b[64:], uint64(r.SenderSent))
	binary.BigEndian.PutUint16(b[72:], uint16(r.SenderError))
	b[80] = r.SenderTTL
	copy(b[96:], stampHMAC(key, b[:96]))
	return append(b, encodeTLVs(r.TLVs)...)
}

// DecodeSTAMPReflection reads a reflection, its HMAC and what must be zero.
func DecodeSTAMPReflection(b, key []byte) (r STAMPReflection, err error) {
	const section = "RFC 8762 section 4.3"
	if key == nil {
		if len(b) < openSTAMP {
			return r, violated(section, "a reflection has %d octets, want %d at least", len(b), openSTAMP)
		}
		head := bytes.Clone(b[:openReflection])
		head[14], head[15] = 0, 0 // the SSID
		if r.Reflection, err = DecodeReflection(head, Open, Keys{}); err != nil {
			return r, err
		}
		r.SSID = binary.BigEndian.Uint16(b[14:])
		r.TLVs, err = decodeTLVs(b[openSTAMP:])
		return r, first(err, zero(section, "MBZ after TTL", b[41:44]))
	}
	if len(b) < authenticatedSTAMP {
		return r, violated(section, "a reflection has %d octets, want %d at least", len(b), authenticatedSTAMP)
	}
	if err := checkSTAMP(b, key); err != nil {
		return r, err
	}
	r.Reflection = Reflection{binary.BigEndian.Uint32(b), Timestamp(binary.BigEndian.Uint64(b[16:])),
		ErrorEstimate(binary.BigEndian.Uint16(b[24:])), Timestamp(binary.BigEndian.Uint64(b[32:])),
		binary.BigEndian.Uint32(b[48:]), Timestamp(binary.BigEndian.Uint64(b[64:])),
		ErrorEstimate(binary.BigEndian.Uint16(b[72:])), b[80], nil}
	r.SSID = binary.BigEndian.Uint16(b[26:])
	r.TLVs, err = decodeTLVs(b[authenticatedSTAMP:])
	return r, first(err, zero(section, "MBZ after Sequence Number", b[4:16]), zero(section, "MBZ after SSID", b[28:32]),
		zero(section, "MBZ after Receive Timestamp", b[40:48]), zero(section, "MBZ after the Sender's Sequence Number", b[52:64]),
		zero(section, "MBZ after the Sender's Error Estimate", b[74:80]), zero(section, "MBZ after the Sender's TTL", b[81:96]))
}

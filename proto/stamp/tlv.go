package stamp

import (
	"crypto/hmac"
	"encoding/binary"
)

// What may stand behind a packet, one after the other (RFC 8972 section 4):
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|U|M|I| reserved|      type     |       length of the value     |
//	|                             value                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// A sender sets U, and a reflector that knows the type clears it. What begins without U is padding of a sender that knows no TLVs, as those of
// TWAMP-light: it goes back as it came.
const (
	tlvHead   = 4
	notKnown  = 0x80 // U
	malformed = 0x40 // M: the lengths do not add up, or one is not that of its type
	notIntact = 0x20 // I: the HMAC is wrong, or there is none and there has to be one
	// notAsAsked is C (RFC 10052 section 3): the answer is not of the length that was asked for.
	notAsAsked = 0x10
)

// Types of TLVs (RFC 8972 section 5.1).
const (
	ExtraPadding      = 1
	TimestampInfo     = 3
	ClassOfService    = 4
	DirectMeasurement = 5
	AccessReport      = 6  // what the sender says of its network, which is for others to use
	FollowUpTelemetry = 7  // when the answer before left: see FollowUp
	sealed            = 8  // HMAC
	ReflectedControl  = 12 // how long the answer shall be: see Control
)

// lengths are those of the values of the types that are known; -1: any.
var lengths = map[byte]int{ExtraPadding: -1, TimestampInfo: 4, ClassOfService: 4, DirectMeasurement: CountersBytes, AccessReport: 4,
	FollowUpTelemetry: FollowUpBytes, sealed: digestBytes, ReflectedControl: -1}

// TLV is one of what may stand behind a packet.
type TLV struct {
	Type  byte
	Value []byte
}

// Bytes is how long the TLV is, with its head.
func (t TLV) Bytes() int { return tlvHead + len(t.Value) }

// SealBytes is how much AppendSeal appends.
const SealBytes = tlvHead + digestBytes

// AppendTLV appends a TLV as its sender sends it.
func AppendTLV(b []byte, t TLV) []byte {
	b = append(b, notKnown, t.Type)
	b = binary.BigEndian.AppendUint16(b, uint16(len(t.Value)))
	return append(b, t.Value...)
}

// AppendSeal appends room for the HMAC of all TLVs before it, which SealProbe fills. In the authenticated mode it is needed unless there is
// nothing but extra padding, which may stand behind it, too; in the unauthenticated mode a Sealer of NewTLVSealer fills it.
func AppendSeal(b []byte) []byte { return AppendTLV(b, TLV{sealed, make([]byte, digestBytes)}) }

// OpenTLVs are the TLVs behind an answer of which the reflector knew the type, up to one that it could not read. Error: ErrForged, of the
// HMAC at either end, which a Sealer with a key asks for wherever there is more than extra padding.
func (s *Sealer) OpenTLVs(b []byte) (all []TLV, err error) {
	sequence, rest := b[:4], b[s.LeastBytes():]
	if s.tlvs != nil {
		intact, at := s.intact(sequence, rest, 0)
		if _, needed, _ := sealIn(rest, 0); !intact || at < 0 && needed {
			return nil, ErrForged
		}
	}
	for {
		tlv, after, is := first(rest, 0)
		if !is || tlv[0]&malformed != 0 || cut(tlv) {
			return all, nil
		}
		if tlv[0]&notIntact != 0 {
			return nil, ErrForged
		}
		if tlv[0]&notKnown == 0 && tlv[1] != sealed {
			all = append(all, TLV{tlv[1], tlv[tlvHead:]})
		}
		rest = after
	}
}

// first is the TLV that b begins with, head and value, and what follows it; is: it begins with one, which has the flags. One that is longer
// than b is cut, and nothing follows it.
func first(b []byte, flags byte) (tlv, rest []byte, is bool) {
	if len(b) < tlvHead || b[0]&flags != flags || flags == 0 && b[1] == 0 { // type 0 is reserved: zeros are padding
		return nil, nil, false
	}
	end := min(len(b), tlvHead+int(binary.BigEndian.Uint16(b[2:])))
	return b[:end], b[end:], true
}

func cut(tlv []byte) bool { return len(tlv) < tlvHead+int(binary.BigEndian.Uint16(tlv[2:])) }

// sealIn is where the HMAC stands in TLVs that have the flags; -1: there is none. Behind it may be nothing but extra padding (RFC 8972
// section 4.8): lawful is false of anything else, or of one that is no HMAC. Needed: there is more than extra padding.
func sealIn(tlvs []byte, flags byte) (at int, needed, lawful bool) {
	at, lawful = -1, true
	for rest := tlvs; ; {
		tlv, after, is := first(rest, flags)
		switch {
		case !is:
			return at, needed, lawful
		case tlv[1] == ExtraPadding:
		case at >= 0 || tlv[1] == sealed && len(tlv) != tlvHead+digestBytes:
			lawful = false
		case tlv[1] == sealed:
			at = len(tlvs) - len(rest)
		default:
			needed = true
		}
		rest = after
	}
}

// intact reports whether TLVs that have the flags may be used: their HMAC, over the sequence number of the packet and all TLVs before it, is
// right; or there is none and none is needed, as in the unauthenticated mode. Without a key none is right. It says where the HMAC stands.
func (s *Sealer) intact(sequence, tlvs []byte, flags byte) (is bool, at int) {
	at, needed, lawful := sealIn(tlvs, flags)
	switch {
	case !lawful:
		return false, at
	case at < 0:
		return !needed || s.mac == nil, at
	}
	return s.tlvs != nil && hmac.Equal(s.hmac(s.tlvs, sequence, tlvs[:at]), tlvs[at+tlvHead:at+tlvHead+digestBytes]), at
}

// sealTLVs fills in the HMAC that stands in TLVs.
func (s *Sealer) sealTLVs(sequence uint32, tlvs []byte, at int) {
	if at < 0 || len(tlvs) < at+tlvHead+digestBytes {
		return
	}
	var number [4]byte
	binary.BigEndian.PutUint32(number[:], sequence)
	copy(tlvs[at+tlvHead:at+tlvHead+digestBytes], s.hmac(s.tlvs, number[:], tlvs[:at]))
}

// answerTLVs turns the TLVs of a probe into those of its answer, in place, and says how the answer leaves. What is not intact goes back as it came, but
// for its flags; so does what stands behind a TLV that is malformed.
func (s *Sealer) answerTLVs(probe []byte, sequence uint32, tlvs []byte, about seen) (how leaving) {
	intact, at := s.intact(probe[:4], tlvs, notKnown)
	if intact {
		defer s.sealTLVs(sequence, tlvs, at)
	}
	for rest := tlvs; ; {
		tlv, after, is := first(rest, notKnown)
		if !is {
			return how
		}
		want, known := lengths[tlv[1]]
		tlv[0] = 0
		if !known {
			tlv[0] = notKnown
		}
		bad := cut(tlv) || known && want >= 0 && len(tlv) != tlvHead+want
		if bad {
			tlv[0] |= malformed
		}
		switch {
		case !intact:
			tlv[0] |= notIntact
		case bad:
			if tlv[1] == FollowUpTelemetry { // RFC 8972 section 4.7
				clear(tlv[tlvHead:])
			}
			return how
		case known && !about.fill(tlv[1], tlv[tlvHead:], &how):
			tlv[0] |= notKnown
		}
		if tlv[1] == ReflectedControl && how.refused {
			tlv[0] |= notAsAsked
		}
		rest = after
	}
}

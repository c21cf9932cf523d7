package peertest

import (
	"encoding/binary"
	"slices"
)

// TLVType says what a TLV is (RFC 8972 section 5.1).
type TLVType byte

const (
	ExtraPadding         TLVType = 1 // section 4.1
	Location             TLVType = 2 // section 4.2
	TimestampInformation TLVType = 3 // section 4.3: Sync Src In, Timestamp In, Sync Src Out, Timestamp Out (1 each)
	ClassOfService       TLVType = 4 // section 4.4: DSCP1 (6 bits), DSCP2 (6), ECN (2), RP (2), Reserved (16)
	DirectMeasurement    TLVType = 5 // section 4.5: Sender Tx, Reflector Rx, Reflector Tx (4 each)
	AccessReport         TLVType = 6 // section 4.6: ID (4 bits), Reserved (4), Return Code (8), Reserved (16)
	FollowUpTelemetry    TLVType = 7 // section 4.7: Sequence Number (4), Timestamp (8), Timestamp Mode (1), Reserved (3)
	HMAC                 TLVType = 8 // section 4.8
)

// The flags of a TLV (RFC 8972 section 4). A sender sets U, and a reflector clears it if it understands the TLV.
const (
	Unrecognized byte = 0x80
	Malformed    byte = 0x40
	Integrity    byte = 0x20 // the HMAC TLV does not fit
)

// TLV is an extension of a STAMP packet (RFC 8972 section 4):
//
//	Flags (1) | Type (1) | Length (2) | Value
type TLV struct {
	Flags byte
	Type  TLVType
	Value []byte
	Cut   uint16 // by how much Length says more than there is
}

func encodeTLVs(all []TLV) (b []byte) {
	for _, t := range all {
		b = append(b, t.Flags, byte(t.Type))
		b = binary.BigEndian.AppendUint16(b, uint16(len(t.Value))+t.Cut)
		b = append(b, t.Value...)
	}
	return b
}

// decodeTLVs reads TLVs. One whose Length says more than there is is the last.
func decodeTLVs(b []byte) (all []TLV, err error) {
	for len(b) > 0 {
		if len(b) < 4 {
			return all, violated("RFC 8972 section 4", "%d octets after the last TLV", len(b))
		}
		t := TLV{Flags: b[0], Type: TLVType(b[1])}
		if b[0]&0x1f != 0 {
			return all, violated("RFC 8972 section 4", "the reserved flags of a TLV of type %d are %#x", b[1], b[0])
		}
		length := int(binary.BigEndian.Uint16(b[2:]))
		b = b[4:]
		if length > len(b) {
			t.Cut = uint16(length - len(b))
			length = len(b)
		}
		t.Value, b = slices.Clone(b[:length]), b[length:]
		all = append(all, t)
	}
	return all, nil
}

// lengths are those of the values of TLVs that have one length only.
var lengths = map[TLVType]int{TimestampInformation: 4, ClassOfService: 4, DirectMeasurement: 12, AccessReport: 4, FollowUpTelemetry: 16, HMAC: 16}

// malformed reports whether a TLV's length does not fit its type (RFC 8972 section 4).
func (t TLV) malformed() bool {
	length, fixed := lengths[t.Type]
	return t.Cut > 0 || fixed && len(t.Value) != length || t.Type == Location && len(t.Value) < 4
}

// signTLVs sets the value of an HMAC TLV: the HMAC over the Sequence Number and the TLVs before it (RFC 8972 section 4.8).
func signTLVs(seq uint32, all []TLV, key []byte) {
	for i, t := range all {
		if t.Type == HMAC {
			all[i].Value = tlvHMAC(seq, all[:i], key)
			return
		}
	}
}

func tlvHMAC(seq uint32, before []TLV, key []byte) []byte {
	return stampHMAC(key, append(binary.BigEndian.AppendUint32(nil, seq), encodeTLVs(before)...))
}

// checkTLVs checks an HMAC TLV, which must be there if one is due, and after which there is but padding (RFC 8972 section 4.8).
func checkTLVs(seq uint32, all []TLV, key []byte, due bool) error {
	const section = "RFC 8972 section 4.8"
	for i, t := range all {
		if t.Type != HMAC {
			continue
		}
		for _, after := range all[i+1:] {
			if after.Type != ExtraPadding {
				return violated(section, "a TLV of type %d after the HMAC TLV", after.Type)
			}
		}
		if want := tlvHMAC(seq, all[:i], key); !slices.Equal(t.Value, want) {
			return violated(section, "the HMAC TLV has % x, want % x", t.Value, want)
		}
		return nil
	}
	if due {
		return violated(section, "an authenticated packet with TLVs has no HMAC TLV")
	}
	return nil
}

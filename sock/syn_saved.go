package sock

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// SYN is what a connection opened with, as it arrived: what was changed on the way is in it as changed.
type SYN struct {
	Source, Target netip.AddrPort
	TTL            int   // or hop limit, when it arrived
	DSCP, ECN      int   // of the IP header
	Window         int   // bytes: no scale holds yet
	ECNAsked       bool  // ECE and CWR are set (RFC 3168, 6.1.1)
	Options        []int // kinds, in their order, without padding

	MSS         int // 0: it names none
	WindowScale int // -1: it has none
	SACK        bool
	Timestamps  bool
	FastOpen    bool // it asks for a cookie, or shows one (RFC 7413)
	Multipath   bool // RFC 8684

	Headers []byte // all of it, from IP's on; nil where it was not the kernel that told them
}

// Kinds of TCP options (IANA, "TCP Option Kind Numbers").
const (
	optionEnd, optionNop                                          = 0, 1
	optionMSS, optionScale, optionSACK, optionTimes, optionMultip = 2, 3, 4, 8, 30
	optionFastOpen                                                = 34
)

// flagsECN are CWR and ECE among the flags of a TCP header (RFC 9293, 3.1).
const flagsECN = 0x80 | 0x40

var errNoSYN = errors.New("read the SYN of a connection: not the headers of one")

// ParseSYN reads the headers of a SYN as the kernel saved them, from IP's on.
//
//	IPv4 (RFC 791) or IPv6 (RFC 8200) header | extension headers, of which none is expected | TCP header (RFC 9293, 3.1) with its options
func ParseSYN(b []byte) (s SYN, err error) {
	if len(b) < 20 {
		return s, errNoSYN
	}
	var tcp []byte
	var from, to netip.Addr
	switch header := int(b[0]&0xf) * 4; {
	case b[0]>>4 == 4 && header >= 20 && len(b) >= header && b[9] == 6:
		s.TTL, s.DSCP, s.ECN = int(b[8]), int(b[1]>>2), int(b[1]&3)
		from, to = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
		tcp = b[header:]
	case b[0]>>4 == 6 && len(b) >= 40 && b[6] == 6:
		class := b[0]<<4 | b[1]>>4
		s.TTL, s.DSCP, s.ECN = int(b[7]), int(class>>2), int(class&3)
		from, to = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
		tcp = b[40:]
	default:
		return SYN{}, errNoSYN
	}
	if len(tcp) < 20 {
		return SYN{}, errNoSYN
	}
	header := int(tcp[12]>>4) * 4
	if header < 20 || header > len(tcp) {
		return SYN{}, errNoSYN
	}
	s.Source = netip.AddrPortFrom(from, binary.BigEndian.Uint16(tcp))
	s.Target = netip.AddrPortFrom(to, binary.BigEndian.Uint16(tcp[2:]))
	s.ECNAsked = tcp[13]&flagsECN == flagsECN
	s.Window, s.WindowScale = int(binary.BigEndian.Uint16(tcp[14:])), -1
	s.readOptions(tcp[20:header])
	return s, nil
}

// readOptions reads as many options as are whole.
func (s *SYN) readOptions(b []byte) {
	for len(b) > 0 && b[0] != optionEnd {
		if b[0] == optionNop {
			b = b[1:]
			continue
		}
		if len(b) < 2 || b[1] < 2 || int(b[1]) > len(b) {
			return
		}
		kind, value := int(b[0]), b[2:b[1]]
		s.Options = append(s.Options, kind)
		switch {
		case kind == optionMSS && len(value) == 2:
			s.MSS = int(binary.BigEndian.Uint16(value))
		case kind == optionScale && len(value) == 1:
			s.WindowScale = int(value[0])
		case kind == optionSACK:
			s.SACK = true
		case kind == optionTimes:
			s.Timestamps = true
		case kind == optionFastOpen:
			s.FastOpen = true
		case kind == optionMultip:
			s.Multipath = true
		}
		b = b[b[1]:]
	}
}

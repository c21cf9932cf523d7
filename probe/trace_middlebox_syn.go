package probe

import (
	"encoding/binary"
	"strconv"

	"github.com/pathwise-net/pathwise/proto/changed"
	"github.com/pathwise-net/pathwise/proto/icmp"
)

// craftedSYN is the SYN of a trace that looks for middleboxes. It has all that boxes change: options, ECN in both headers, a DSCP if that is asked for.
//
//	| MSS 1460, 1440 over IPv6 | SACK permitted | time stamps: base + number | NOP | window scale 7 | Multipath TCP, version 1 |
//
// The ECN field says that the packet may be marked, which SYNs of most systems do not say: what clears it on data clears it here.
type craftedSYN struct{ dscp int }

// ecnCapable is ECT(0) (RFC 3168, 5).
const ecnCapable = 2

const (
	craftedScale = 7 // what Linux asks for, mostly
	// ipv6More are the bytes by which IPv6's header is longer, so that an MSS is less.
	ipv6More = 20
)

// marshal encodes the SYN with a number.
func (c *craftedSYN) marshal(f *traceFlow, id int) []byte {
	number := f.base() + uint32(id)
	s := segment{from: f.from.Port(), to: f.to.Port(), seq: number, flags: flagSYN | flagsECN}
	return s.marshalWith(c.options(f.to.Addr().Is6(), number), nil, f.from.Addr(), f.to.Addr())
}

func (c *craftedSYN) options(ipv6 bool, stamp uint32) []byte {
	mss := uint16(synMSS)
	if ipv6 {
		mss -= ipv6More
	}
	b := append(mssOption(mss), changed.OptionSACK, 2)
	b = append(b, timeStamps(stamp, 0)...)
	b = append(b, 1, changed.OptionScale, 3, craftedScale)
	return append(b, changed.OptionMPTCP, 4, 0x01, 0x01) // MP_CAPABLE, version 1, HMAC-SHA256 (RFC 8684, 3.1)
}

// timeStamps is the option (RFC 7323, 3.2).
func timeStamps(own, echoed uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte{changed.OptionTimes, 10}, own), echoed)
}

// sent is the packet of a probe as it leaves, with its IP header.
func (c *craftedSYN) sent(f *traceFlow, id, ttl int) icmp.Quote {
	ipv6 := f.to.Addr().Is6()
	tcp := c.marshal(f, id)
	return icmp.Quote{IPv6: ipv6, From: f.own(), To: f.to.Addr(), TTL: uint8(ttl), DSCP: uint8(c.dscp), ECN: ecnCapable, Length: ipHeader(f.to.Addr()) + len(tcp),
		Protocol: icmp.ProtocolTCP, DontFragment: !ipv6, Transport: tcp}
}

// quoted is which probe an error quotes, whatever was changed of it: the sequence number tells, or, where that was changed, the time stamp. Both are random
// numbers of 32 bits, and a port is to be right beside them.
func (c *craftedSYN) quoted(f *traceFlow, q icmp.Quote, sent int) (id int, ok bool) {
	from, to, ok := q.Ports()
	if !ok || q.Protocol != icmp.ProtocolTCP || from != f.from.Port() && to != f.to.Port() {
		return 0, false
	}
	if sequence, ok := q.Sequence(); ok {
		if id, ok := within(int(int32(sequence-f.base())), sent, true); ok {
			return id, true
		}
	}
	if stamp, ok := changed.TimeStamp(q.Transport); ok {
		return within(int(int32(stamp-f.base())), sent, true)
	}
	return 0, false
}

// sentFields are those of a probe that people want to see beside what became of them.
func sentFields(sent icmp.Quote) (all [][2]string) {
	for _, f := range changed.Fields(sent, sent, 0) {
		switch f.Name {
		case "DSCP", "ECN", "flags", "MSS", "window scale", "SACK permitted", "Multipath TCP":
			all = append(all, [2]string{f.Name, f.Sent})
		case "length":
			all = append(all, [2]string{f.Name, strconv.Itoa(sent.Length)})
		case "time stamps":
			all = append(all, [2]string{f.Name, "there"})
		}
	}
	return all
}

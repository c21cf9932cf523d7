package middlebox

import (
	"slices"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// tamperer changes fields of the packets that it is about.
type tamperer struct {
	match *packet.Match
	strip *[256]bool // by kind of option
	mss   uint16
	dscp  *[64]byte
	ecn   ECN
	shift bool
	seed  uint64
}

func newTamperer(c *Config, seed uint64) *tamperer {
	m := &tamperer{
		match: c.Match, strip: c.Strip.table(), mss: uint16(c.MSS), dscp: c.DSCP.table(),
		shift: c.RandomizeSequence, seed: seed,
	}
	if c.ECN != ECNPass {
		m.ecn = c.ECN
	}
	if m.strip == nil && m.mss == 0 && m.dscp == nil && m.ecn == "" && !m.shift {
		return nil
	}
	return m
}

// pass does to a packet what is asked for; it is false if that is to drop it.
func (m *tamperer) pass(p *packet.Packet, counts *Counts) bool {
	n := int64(p.Segments())
	if m.shift && m.match.Matches(numbered(p.Data)) && shift(p, m.seed) {
		counts.Randomized += n
	}
	if !m.match.Matches(p.Data) {
		return true
	}
	if m.ecn != "" && !m.notify(p.Data, n, counts) {
		return false
	}
	if m.dscp != nil {
		if old := packet.DSCP(p.Data); m.dscp[old] != old {
			packet.SetDSCP(p.Data, m.dscp[old])
			counts.Remarked += n
		}
	}
	if m.strip != nil && m.stripOptions(p) {
		counts.Stripped += n
	}
	if m.mss != 0 && p.ClampMSS(m.mss) {
		counts.Clamped += n
	}
	return true
}

// numbered returns the packet whose sequence numbers a packet shows: the one that an ICMP error quotes, or itself.
func numbered(b []byte) []byte {
	if inner, ok := packet.Quoted(b); ok {
		return inner
	}
	return b
}

// notify treats the ECN bits and flags; it is false if the packet is to be dropped.
func (m *tamperer) notify(b []byte, n int64, counts *Counts) bool {
	switch m.ecn {
	case ECNDropECT:
		return packet.ECN(b) == packet.NotECT
	case ECNDropSYN:
		const asked = packet.FlagSYN | packet.FlagECE | packet.FlagCWR // RFC 3168 section 6.1.1
		flags, _ := packet.TCPFlags(b)
		return flags&(asked|packet.FlagACK) != asked
	}
	if packet.ECN(b) != packet.NotECT {
		packet.SetECN(b, packet.NotECT)
		counts.Bleached += n
	}
	return true
}

// The options that can be stripped, by their kinds (IANA).
const (
	stripWindowScale Option = "wscale"
	stripSACK        Option = "sack" // the permission and the blocks
	stripTimestamps  Option = "timestamps"
	stripMPTCP       Option = "mptcp"
	stripFastOpen    Option = "tfo"
	stripUnknown     Option = "unknown" // all that came after RFC 1323 and RFC 2018
)

var optionNames = []Option{stripWindowScale, stripSACK, stripTimestamps, stripMPTCP, stripFastOpen, stripUnknown}

const (
	optionEnd    = 0
	optionNOP    = 1
	optionMPTCP  = 30 // RFC 8684
	optionTFO    = 34 // RFC 7413
	tcpMinHeader = 20
)

// wellKnown are the options that a middlebox of the late 1990s knew.
var wellKnown = []byte{optionEnd, optionNOP, packet.OptionMSS, packet.OptionWindowScale, packet.OptionSACKPermitted,
	packet.OptionSACK, packet.OptionTimestamps}

// table says of each kind of option whether it is to be stripped; nil if none is.
func (o Options) table() *[256]bool {
	if len(o) == 0 {
		return nil
	}
	var t [256]bool
	for _, name := range o {
		switch name {
		case stripWindowScale:
			t[packet.OptionWindowScale] = true
		case stripSACK:
			t[packet.OptionSACKPermitted], t[packet.OptionSACK] = true, true
		case stripTimestamps:
			t[packet.OptionTimestamps] = true
		case stripMPTCP:
			t[optionMPTCP] = true
		case stripFastOpen:
			t[optionTFO] = true
		case stripUnknown:
			for kind := range t {
				t[kind] = t[kind] || !slices.Contains(wellKnown, byte(kind))
			}
		}
	}
	return &t
}

// stripOptions walks over the options once, and reports whether it stripped any.
func (m *tamperer) stripOptions(p *packet.Packet) bool {
	protocol, at := packet.Transport(p.Data)
	if protocol != packet.ProtocolTCP || at < 0 || at+tcpMinHeader > len(p.Data) {
		return false
	}
	end := min(at+int(p.Data[at+12]>>4)*4, len(p.Data))
	stripped := false
	for i := at + tcpMinHeader; i < end && p.Data[i] != optionEnd; {
		kind := p.Data[i]
		if kind == optionNOP {
			i++
			continue
		}
		if i+2 > end || p.Data[i+1] < 2 {
			break
		}
		i += int(p.Data[i+1]) // before the option may be gone
		if m.strip[kind] {
			stripped = p.StripOption(kind) || stripped
		}
	}
	return stripped
}

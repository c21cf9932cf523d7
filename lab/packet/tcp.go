package packet

// The TCP header (RFC 9293 section 3.1), by byte:
//
//	   +--------+--------+--------+--------+
//	 0 |  source port    |  target port    |
//	 4 | sequence number                   |
//	 8 | acknowledgment number             |
//	12 |len| res| flags  |  window         |   length of the header in units of 4 bytes
//	16 |  checksum       |  urgent pointer |
//	20 | options, up to 40 bytes           |
//	   +--------+--------+--------+--------+
const (
	tcpMinHeader = 20
	tcpSequence  = 4
	tcpLength    = 12
	tcpFlags     = 13
	tcpChecksum  = 16
)

// The TCP flags.
const (
	FlagFIN = 1 << iota
	FlagSYN
	FlagRST
	FlagPSH
	FlagACK
	FlagURG
	FlagECE
	FlagCWR
)

// TCP options (IANA's numbers): one byte of kind, one of length (both counted), and the value; but the first two are
// one byte alone.
const (
	optionEnd           = 0
	optionNOP           = 1
	OptionMSS           = 2
	OptionWindowScale   = 3
	OptionSACKPermitted = 4
	OptionSACK          = 5
	OptionTimestamps    = 8
)

// tcpHeaderLength is the length of the TCP header at at, or 0 if it is not all there or says nonsense.
func tcpHeaderLength(b []byte, at int) int {
	if at < 0 || at+tcpMinHeader > len(b) {
		return 0
	}
	n := int(b[at+tcpLength]>>4) * 4
	if n < tcpMinHeader || at+n > len(b) {
		return 0
	}
	return n
}

// TCPFlags returns the flags of a TCP packet; ok is false for anything else, and for later fragments.
func TCPFlags(b []byte) (flags byte, ok bool) {
	protocol, at := Transport(b)
	if protocol != ProtocolTCP || at < 0 || at+tcpMinHeader > len(b) {
		return 0, false
	}
	return b[at+tcpFlags], true
}

// options returns the options of a TCP packet and where its header begins; nil if there are none.
func options(b []byte) (list []byte, at int) {
	protocol, at := Transport(b)
	if protocol != ProtocolTCP {
		return nil, -1
	}
	n := tcpHeaderLength(b, at)
	if n == 0 {
		return nil, -1
	}
	return b[at+tcpMinHeader : at+n], at
}

// option finds the next option of a kind in list, from from on. The list ends at a malformed option.
func option(list []byte, kind byte, from int) (start, end int, ok bool) {
	for start = from; start < len(list); start = end {
		switch list[start] {
		case optionEnd:
			return 0, 0, false
		case optionNOP:
			end = start + 1
			continue
		}
		if start+2 > len(list) || list[start+1] < 2 || start+int(list[start+1]) > len(list) {
			return 0, 0, false
		}
		end = start + int(list[start+1])
		if list[start] == kind {
			return start, end, true
		}
	}
	return 0, 0, false
}

// StripOption overwrites every TCP option of a kind with NOPs, as some firewalls do, and mends the checksum. It reports
// whether there was one.
func (p *Packet) StripOption(kind byte) bool {
	if kind == optionEnd || kind == optionNOP {
		return false
	}
	list, at := options(p.Data)
	stripped := false
	for start, end, ok := option(list, kind, 0); ok; start, end, ok = option(list, kind, end) {
		words := wholeWords(list, start, end)
		old := sum(words)
		for i := start; i < end; i++ {
			list[i] = optionNOP
		}
		p.mendTransport(ProtocolTCP, at, old, sum(words), false)
		stripped = true
	}
	return stripped
}

// ClampMSS lowers the maximum segment size that a SYN announces to mss, and mends the checksum. It reports whether
// there was anything to lower.
func (p *Packet) ClampMSS(mss uint16) bool {
	list, at := options(p.Data)
	if list == nil || p.Data[at+tcpFlags]&FlagSYN == 0 {
		return false
	}
	start, end, ok := option(list, OptionMSS, 0)
	if !ok || end-start != 4 || be.Uint16(list[start+2:]) <= mss {
		return false
	}
	words := wholeWords(list, start, end)
	old := sum(words)
	be.PutUint16(list[start+2:], mss)
	p.mendTransport(ProtocolTCP, at, old, sum(words), false)
	return true
}

// wholeWords widens a range to the 16-bit words of the checksum that it touches. TCP options begin at an even offset
// and are of even length together.
func wholeWords(list []byte, start, end int) []byte { return list[start&^1 : (end+1)&^1] }

// Package changed holds a TCP SYN as it left beside what others show of it: routers, in what they quote of a packet in an ICMP error, and the far end, in the
// headers that it kept. It says which fields are not as they were sent, and between which two places on the way that happened. It is pure: it
// sends nothing, and reads no more than the packets that it is given.
//
// A router quotes the packet as it came. How much of it is up to the router, so that fields are known at some places and not at others:
//
//	IP header          | ports, sequence | acknowledgement, flags, window | options
//	always             | RFC 792: 8 bytes more                            |
//	RFC 1812, 4.3.2.3: as much as fits into 576 bytes, which is all of a SYN
package changed

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/pathwise-net/pathwise/proto/icmp"
)

// Field is one field of a packet, as text: as it was sent, and as it was seen. Numbers that differ from packet to packet, source port, sequence number, time stamp
// and TTL, are AsSent where they are what they should be.
type Field struct{ Name, Sent, Seen string }

// AsSent is of a field that is as it was sent, whatever that was.
const AsSent = "as sent"

// None is of an option that is not there.
const None = "none"

// How much of a packet was shown.
const (
	ShownIP     = "IP header"
	ShownPorts  = "8 bytes of TCP"
	ShownHeader = "TCP header"
	ShownAll    = "all"
)

const (
	tcpHeader = 20 // without options (RFC 9293, 3.1)
	least     = 8  // bytes that RFC 792 has a router quote
)

// Shown says how much of a SYN a packet shows.
func Shown(seen icmp.Quote) string {
	switch n := len(seen.Transport); {
	case n < least:
		return ShownIP
	case n < tcpHeader:
		return ShownPorts
	case n < headerOf(seen.Transport):
		return ShownHeader
	}
	return ShownAll
}

// headerOf is how long a TCP header says that it is.
func headerOf(tcp []byte) int { return max(tcpHeader, int(tcp[12]>>4)*4) }

// Fields are those fields of a SYN that both packets show, in the order of the packet, and then by kind of option. ttl is what should have been
// left of the TTL where the packet was seen; 0: it is not known.
func Fields(sent, seen icmp.Quote, ttl int) []Field {
	all := []Field{
		{"DSCP", number(sent.DSCP), number(seen.DSCP)},
		{"ECN", number(sent.ECN), number(seen.ECN)},
		{"length", number(sent.Length), number(seen.Length)},
		{"source address", sent.From.String(), seen.From.String()},
		{"target address", sent.To.String(), seen.To.String()},
	}
	if ttl > 0 {
		all = append(all, Field{"TTL", AsSent, off(int(seen.TTL), ttl)})
	}
	if !sent.IPv6 {
		all = append(all, Field{"don't fragment", strconv.FormatBool(sent.DontFragment), strconv.FormatBool(seen.DontFragment)})
	}
	a, b := sent.Transport, seen.Transport
	shown := min(len(a), len(b))
	word := func(name string, at, size int) {
		if at+size <= shown {
			all = append(all, Field{name, value(a[at : at+size]), value(b[at : at+size])})
		}
	}
	if shown >= 2 {
		all = append(all, Field{"source port", AsSent, to16(b, a)})
	}
	word("target port", 2, 2)
	if shown >= 8 {
		all = append(all, Field{"sequence number", AsSent, off32(b[4:], a[4:])})
	}
	word("acknowledgement", 8, 4)
	if shown >= 14 {
		all = append(all, Field{"flags", flags(a[13]), flags(b[13])})
	}
	word("window", 14, 2)
	word("urgent pointer", 18, 2)
	return append(all, options(a, b)...)
}

func number[N uint8 | int](n N) string { return strconv.Itoa(int(n)) }

func value(b []byte) string {
	var n uint64
	for _, one := range b {
		n = n<<8 | uint64(one)
	}
	return strconv.FormatUint(n, 10)
}

// off is by how much a TTL is not what it should be. Some routers count it down before they quote, so that 0 and 1 are the same.
func off(seen, want int) string {
	if seen == want || want == 1 && seen == 0 {
		return AsSent
	}
	return fmt.Sprintf("by %+d", seen-want)
}

func off32(seen, sent []byte) string {
	if d := int32(binary.BigEndian.Uint32(seen) - binary.BigEndian.Uint32(sent)); d != 0 {
		return fmt.Sprintf("by %+d", d)
	}
	return AsSent
}

func to16(seen, sent []byte) string {
	if [2]byte(seen) != [2]byte(sent) {
		return "to " + value(seen[:2])
	}
	return AsSent
}

// flags are those of a TCP header in letters, CWR, ECE and so on (RFC 9293, 3.1).
func flags(b byte) string {
	text := ""
	for i, name := range []string{"CWR", "ECE", "URG", "ACK", "PSH", "RST", "SYN", "FIN"} {
		if b&(0x80>>i) != 0 {
			if text != "" {
				text += " "
			}
			text += name
		}
	}
	if text == "" {
		return None
	}
	return text
}

// Point is a place on the way where a packet was seen.
type Point struct {
	Hop    int // its TTL; that of the target where the far end tells
	Far    bool
	Shown  string // ShownAll and the like
	Fields []Field
}

// Change is a field that was changed on the way.
type Change struct {
	Field, From, To string
	After           int // the last hop at which it was seen as before; 0: it left this host so, and where it was changed is not known
	By              int // the first hop at which it was seen changed
	Far             bool
}

// undone are the fields that a translator of addresses, or a firewall that hides sequence numbers, changes back in the errors that it lets through, so that
// routers behind it seem to show what was sent.
var undone = []string{"source address", "target address", "source port", "target port", "sequence number"}

// Changes says what was changed between which points, which are in the order of the way. A field that is changed twice is in it twice, and so is one
// that is changed back.
func Changes(points []Point) (all []Change) {
	type state struct {
		value string
		at    int
	}
	last := map[string]state{}
	for _, p := range points {
		for _, f := range p.Fields {
			before, known := last[f.Name]
			if !known {
				before = state{value: f.Sent}
			}
			if f.Seen != before.value {
				after := before.at
				if p.Far && slices.Contains(undone, f.Name) {
					after = 0
				}
				all = append(all, Change{Field: f.Name, From: before.value, To: f.Seen, After: after, By: p.Hop, Far: p.Far})
			}
			last[f.Name] = state{f.Seen, p.Hop}
		}
	}
	return all
}

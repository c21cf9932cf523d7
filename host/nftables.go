package host

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// expression is one step of a rule of nf_tables, by its name and its attributes.
type expression struct {
	name string
	attributes
}

// Names of what a register of nf_tables may hold that an Item asks for.
const (
	heldProtocol = "protocol"
	heldType     = "type" // of ICMP, the first byte behind IP's header
	heldOffset   = "fragment offset"
	heldState    = "state" // of the connection
	heldFamily   = "family"
)

// Bits of a connection's state (include/uapi/linux/netfilter/nf_conntrack_common.h NF_CT_STATE_BIT).
const stateRelated = 1 << 2

// reading is a rule as far as it was understood, and what its registers hold.
type reading struct {
	Rule
	holds map[int]string
	masks map[int]uint32
	text  []string
	ends  bool // it says what becomes of a packet
	sets  map[string][][]byte
}

// readRule understands a rule by its expressions, with the elements of sets by their names. A condition that is of no interest makes it
// Narrow. ok is false of a rule that lets packets pass on.
func readRule(expressions []expression, sets map[string][][]byte) (r Rule, ok bool) {
	one := reading{holds: map[int]string{}, masks: map[int]uint32{}, sets: sets}
	for _, e := range expressions {
		one.take(e)
	}
	if one.Text = strings.Join(one.text, " "); one.Text == "" {
		one.Text = "all"
	}
	return one.Rule, one.ends
}

// take does a step. Attributes are of include/uapi/linux/netfilter/nf_tables.h, NFTA_.
func (r *reading) take(e expression) {
	const register, source = 1, 1
	switch e.name {
	case "meta":
		const key, protocol, family, link = 2, 16, 15, 1
		held := map[int]string{protocol: heldProtocol, family: heldFamily, link: heldFamily}[e.big(key)]
		r.holds[e.big(register)] = held
	case "payload":
		r.holds[e.big(register)] = payloadHolds(e.big(2), e.big(3), e.big(4))
	case "exthdr":
		const kind, fragment = 2, 44 // IPv6's header of fragments
		if e.number(kind) == fragment {
			r.Fragments = true
			r.text = append(r.text, "fragments")
			r.holds[e.big(register)] = heldFamily // what comes of it is compared with "is there"
		} else {
			r.holds[e.big(register)] = ""
		}
	case "ct":
		const key, state = 2, 0
		r.holds[e.big(register)] = ""
		if e.big(key) == state {
			r.holds[e.big(register)] = heldState
		}
	case "bitwise":
		from, to := e.big(source), e.big(2)
		r.holds[to] = r.holds[from]
		r.masks[to] = native(e.data(4))
	case "cmp":
		r.compare(e.big(source), e.big(2), e.data(3))
	case "lookup":
		r.lookup(e)
	case "immediate":
		r.verdict(e)
	case "reject":
		r.ends = true
		r.text = append(r.text, "reject")
	case "counter", "log":
	case "match":
		r.match(e.text(1), e.attributes[3])
	case "target":
		r.ends = true
		r.Accepts = e.text(1) == "ACCEPT"
		r.text = append(r.text, strings.ToLower(e.text(1)))
	default:
		r.Narrow = true
	}
}

// payloadHolds names what a part of a packet is: of IPv4's header the protocol and the place of a fragment, of IPv6's what follows, and of
// what is behind either the first byte.
func payloadHolds(base, offset, length int) string {
	const network, transport = 1, 2
	switch {
	case base == network && offset == 9 && length == 1, base == network && offset == 6 && length == 1:
		return heldProtocol
	case base == network && offset == 6 && length == 2:
		return heldOffset
	case base == transport && offset == 0 && length == 1:
		return heldType
	}
	return ""
}

func (r *reading) compare(register, operation int, value []byte) {
	const equal, unequal = 0, 1
	held := r.holds[register]
	switch {
	case len(value) == 0:
		r.Narrow = true
	case held == heldFamily:
	case held == heldProtocol && operation == equal:
		r.protocol(int(value[0]))
	case held == heldType && operation == equal:
		r.Types = append(r.Types, int(value[0]))
		r.text = append(r.text, fmt.Sprintf("type %d", value[0]))
	case held == heldOffset && operation == unequal:
		r.Fragments = true
		r.text = append(r.text, "fragments")
	case held == heldState && operation == unequal && r.masks[register]&stateRelated != 0:
		r.Related = true
		r.text = append(r.text, "related")
	default:
		r.Narrow = true
	}
}

// protocols are the names of those that have one here.
var protocols = map[int]string{icmp4: "icmp", icmp6: "icmpv6", 6: "tcp", 17: "udp"}

func (r *reading) protocol(number int) {
	r.Protocol = number
	name, known := protocols[number]
	if !known {
		name = fmt.Sprintf("protocol %d", number)
	}
	r.text = append(r.text, name)
}

// lookup is in a set: of protocols or types; or in a map, which says what becomes of the packet.
func (r *reading) lookup(e expression) {
	const set, source, destination, flags = 1, 2, 3, 5
	elements, known := r.sets[e.text(set)]
	_, isMap := e.attributes[destination]
	held := r.holds[e.big(source)]
	switch {
	case isMap:
		r.Jumps, r.ends = true, true
	case !known || e.big(flags) != 0: // not in it
		r.Narrow = true
	case held == heldType:
		for _, v := range elements {
			if len(v) > 0 {
				r.Types = append(r.Types, int(v[0]))
			}
		}
		r.text = append(r.text, fmt.Sprintf("types %v", r.Types))
	case held == heldProtocol:
		i := slices.IndexFunc(elements, func(v []byte) bool { return len(v) > 0 && (v[0] == icmp4 || v[0] == icmp6) })
		if r.Narrow = r.Narrow || i < 0; i >= 0 {
			r.protocol(int(elements[i][0]))
		}
	case held == heldState && slices.ContainsFunc(elements, func(v []byte) bool { return native(v)&stateRelated != 0 }):
		r.Related = true
	default:
		r.Narrow = true
	}
}

// verdict says what becomes of a packet.
func (r *reading) verdict(e expression) {
	const register, value, verdict, code = 1, 2, 2, 1
	const drop, accept, jump, goTo = 0, 1, -3, -4
	if e.big(register) != 0 {
		return // it loads a value, which something else uses
	}
	data, err := readAttributes(e.attributes[value])
	if err != nil {
		return
	}
	inner, err := readAttributes(data[verdict])
	if err != nil || len(inner[code]) != 4 {
		return
	}
	switch int32(inner.big(code)) {
	case drop:
		r.ends = true
		r.text = append(r.text, "drop")
	case accept:
		r.ends, r.Accepts = true, true
		r.text = append(r.text, "accept")
	case jump, goTo:
		r.ends, r.Jumps = true, true
	}
}

// match is one of ip_tables, which nf_tables may have inside: its name and its parameters.
func (r *reading) match(name string, info []byte) {
	const any = 255
	switch {
	case (name == "icmp" || name == "icmp6") && len(info) > 0:
		if info[0] != any {
			r.Types = append(r.Types, int(info[0]))
			r.text = append(r.text, fmt.Sprintf("type %d", info[0]))
		}
	case name == "conntrack" || name == "state":
		r.Related = true // most often; as a drop it is of what belongs to nothing
	case name == "comment":
	default:
		r.Narrow = true
	}
}

// big is an attribute of four bytes, the most significant first, as nf_tables has them; 0 where there is none.
func (a attributes) big(kind uint16) int {
	if value := a[kind]; len(value) == 4 {
		return int(binary.BigEndian.Uint32(value))
	}
	return 0
}

// text is an attribute that is one, up to its zero.
func (a attributes) text(kind uint16) string {
	text, _, _ := strings.Cut(string(a[kind]), "\x00")
	return text
}

// data is the value in an attribute of data.
func (a attributes) data(kind uint16) []byte {
	const value = 1
	inner, err := readAttributes(a[kind])
	if err != nil {
		return nil
	}
	return inner[value]
}

// native is a number of up to four bytes as this machine has it in memory.
func native(value []byte) uint32 {
	if len(value) < 4 {
		return 0
	}
	return binary.NativeEndian.Uint32(value)
}

package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// Layout of an entry of ip_tables on machines of 64 bits (include/uapi/linux/netfilter_ipv4/ip_tables.h ipt_entry):
//
//	| source 4 | destination 4 | masks 8 | interfaces 32 | their masks 32 | protocol 2 | flags 1 | inverted 1 |      of ipt_ip, 84 bytes
//	| cache 4 | target 2 | next 2 | from 4 | counters 16 | matches … | target … |
const (
	entryProtocol = 80
	entryFlags    = 82
	entryInverted = 83
	entryTarget   = 88
	entryNext     = 90
	entryMatches  = 112

	extensionHeader = 32 // of a match or a target: its size in 2 bytes, its name in 29, its revision
)

// parseIPTables reads the entries of a table, of which underflow are where chains end with their policies, by hook.
func parseIPTables(raw []byte, entries, underflow map[int]string) ([]Chain, []Rule, error) {
	var chains []Chain
	var rules []Rule
	hook := ""
	for at := 0; at < len(raw); {
		left := raw[at:]
		if len(left) < entryMatches {
			return nil, nil, errors.New("read ip_tables: an entry is cut off")
		}
		target, next := int(binary.NativeEndian.Uint16(left[entryTarget:])), int(binary.NativeEndian.Uint16(left[entryNext:]))
		if target < entryMatches || next < target+extensionHeader || next > len(left) {
			return nil, nil, errors.New("read ip_tables: an entry's lengths are wrong")
		}
		if name, begins := entries[at]; begins {
			hook = name
		}
		one := reading{Rule: Rule{Chain: "iptables filter " + hook, Number: at}}
		one.entry(left[:next], target)
		name, ends := underflow[at]
		switch {
		case ends:
			chains = append(chains, Chain{Family: "iptables", Table: "filter", Name: name, Hook: name, Drops: one.ends && !one.Accepts})
			hook = "" // what follows is a chain of somebody's, until the next one begins
		case one.ends:
			one.Text = strings.Join(one.text, " ")
			rules = append(rules, one.Rule)
		}
		at += next
	}
	return chains, rules, nil
}

// entry reads an entry, whose target begins at a place.
func (r *reading) entry(raw []byte, target int) {
	const fragments = 1 // IPT_F_FRAG
	if p := int(binary.NativeEndian.Uint16(raw[entryProtocol:])); p != 0 {
		r.protocol(p)
	}
	if raw[entryFlags]&fragments != 0 {
		r.Fragments = true
		r.text = append(r.text, "fragments")
	}
	r.Narrow = raw[entryInverted] != 0 || bytes.ContainsFunc(raw[:entryProtocol], func(b rune) bool { return b != 0 })
	for at := entryMatches; at+extensionHeader <= target; {
		size := int(binary.NativeEndian.Uint16(raw[at:]))
		if size < extensionHeader || at+size > target {
			return
		}
		r.match(extensionName(raw[at:]), raw[at+extensionHeader:at+size])
		at += size
	}
	r.target(extensionName(raw[target:]), raw[target+extensionHeader:])
}

// extensionName is the name of a match or a target.
func extensionName(raw []byte) string {
	name, _, _ := strings.Cut(string(raw[2:extensionHeader-1]), "\x00")
	return name
}

// target says what becomes of a packet. One without a name has a verdict: minus one more than that of netfilter, or where to go on.
func (r *reading) target(name string, data []byte) {
	const drop, accept = -1, -2
	switch {
	case name == "" && len(data) >= 4:
		verdict := int32(binary.NativeEndian.Uint32(data))
		r.ends = verdict == drop || verdict == accept || verdict >= 0
		r.Accepts, r.Jumps = verdict == accept, verdict >= 0
		if word := map[int32]string{drop: "drop", accept: "accept"}[verdict]; word != "" {
			r.text = append(r.text, word)
		}
	case name == "REJECT":
		r.ends = true
		r.text = append(r.text, "reject")
	}
}

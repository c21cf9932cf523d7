package middlebox

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/token"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// flow builds a YAML flow mapping.
type flow []string

// add appends a key and its value, if it is set.
func (f *flow) add(set bool, key, value string) {
	if set {
		*f = append(*f, key+": "+value)
	}
}

func (f flow) String() string { return "{" + strings.Join(f, ", ") + "}" }

// String returns YAML that reads back; "{}" for a router that only routes.
func (c Config) String() string {
	var f flow
	f.add(c.NAT != nil, "nat", text(c.NAT))
	f.add(c.Firewall != nil, "firewall", text(c.Firewall))
	f.add(c.ICMP != nil, "icmp", text(c.ICMP))
	f.add(c.Match != nil, "match", text(c.Match))
	f.add(len(c.Strip) > 0, "strip", list(c.Strip, func(o Option) string { return string(o) }))
	f.add(c.MSS != 0, "mss", strconv.Itoa(int(c.MSS)))
	f.add(c.DSCP != nil, "dscp", text(c.DSCP))
	f.add(c.ECN != "", "ecn", string(c.ECN))
	f.add(c.RandomizeSequence, "randomize_sequence", "true")
	f.add(c.Hidden, "hidden", "true")
	f.add(c.Silent, "silent", "true")
	return f.String()
}

// text is what a pointer's String returns; empty if it is nil.
func text[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// String returns YAML that reads back.
func (n *NAT) String() string {
	var f flow
	f.add(true, "outside", name(n.Outside))
	f.add(n.Idle != nil, "idle", text(n.Idle))
	f.add(n.Filtering != "", "filtering", string(n.Filtering))
	f.add(n.Ports != "", "ports", string(n.Ports))
	f.add(n.Quotes != "", "quotes", string(n.Quotes))
	f.add(n.Entries != 0, "entries", strconv.Itoa(int(n.Entries)))
	f.add(len(n.Forward) > 0, "forward", list(n.Forward, Forward.String))
	f.add(n.IPv6, "ipv6", "true")
	return f.String()
}

// String returns YAML that reads back.
func (f Forward) String() string {
	var out flow
	out.add(true, "port", strconv.Itoa(int(f.Port)))
	out.add(true, "to", name(f.To))
	out.add(f.ToPort != 0, "to_port", strconv.Itoa(int(f.ToPort)))
	out.add(f.Protocol != 0, "protocol", fmt.Sprint(f.Protocol))
	return out.String()
}

// String returns YAML that reads back.
func (w *Firewall) String() string {
	match := func(m packet.Match) string { return text(&m) }
	var f flow
	f.add(len(w.Inside) > 0, "inside", list(w.Inside, name))
	f.add(w.Idle != nil, "idle", text(w.Idle))
	f.add(len(w.Allow) > 0, "allow", list(w.Allow, match))
	f.add(len(w.Deny) > 0, "deny", list(w.Deny, match))
	f.add(w.Reject, "reject", "true")
	f.add(w.Entries != 0, "entries", strconv.Itoa(int(w.Entries)))
	return f.String()
}

func list[T any](values []T, print func(T) string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = print(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// name quotes a name that YAML would take for something else, such as 10 or true.
func name(s string) string {
	if s == "" || token.IsNeedQuoted(s) {
		return strconv.Quote(s)
	}
	return s
}

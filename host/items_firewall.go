package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// firewallItems are what filters take away that paths need.
var firewallItems = []Item{
	{ID: "firewall-icmp", Title: "A filter of ICMP messages", Area: Firewall, Reads: "nf_tables netlink, ip_tables", find: dropsICMP,
		Means: "Routers say by ICMP that a packet is too large. A filter that drops it makes large packets vanish for good.", Source: "RFC 4890; RFC 2923"},
	{ID: "firewall-fragments", Title: "A filter of packets in pieces", Area: Firewall, Reads: "nf_tables netlink, ip_tables", find: dropsFragments,
		Means: "Pieces of packets that a router has cut are dropped: large datagrams, such as of DNS and VPNs, never arrive.", Source: "RFC 8900"},
	{ID: "echo-ignored", Title: "Pings that are not answered", Area: Firewall, Reads: echoKey, find: echoes,
		Means: "This machine answers no ping, so that nobody can measure the way to it."},
	{ID: "connections-tracked", Title: "Connections that the firewall has room for", Area: Firewall, Reads: "net.netfilter.nf_conntrack_count, nf_conntrack_max", find: tracked,
		Means: "A firewall that knows connections has room for so many; when it is full, new ones are dropped."},
}

// Numbers of IP's protocols, and of ICMP's messages that paths need.
const (
	icmp4, icmp6         = 1, 58
	destinationUnreached = 3 // of ICMP: fragmentation needed is its code 4
	packetTooBig         = 2 // of ICMPv6
)

// dropsICMP finds rules that drop what says that a packet is too large, and chains that drop all that no rule lets in, where none lets
// that in.
func dropsICMP(f *Facts, _ Need) []seen {
	if len(f.Network.Chains) == 0 {
		return nil
	}
	var all []seen
	for _, r := range f.Network.Rules {
		if !r.Accepts && !r.Narrow && !r.Fragments && !r.Related && r.concernsSize() && !f.acceptedBefore(r) {
			all = append(all, seen{subject: r.Chain, value: r.Text, needed: "let type 3 in, of ICMPv6 type 2", status: Problem,
				command: letIn(r.Chain)})
		}
	}
	for _, c := range f.Network.Chains {
		lets := slices.ContainsFunc(f.Network.Rules, func(r Rule) bool {
			return r.Chain == c.name() && r.Accepts && (r.Related || r.concernsSize() || r.Protocol == 0 && !r.Narrow) || r.Chain == c.name() && r.Jumps
		})
		if c.Drops && c.Hook == "input" && !lets {
			all = append(all, seen{subject: c.name(), value: "policy drop", needed: "let type 3 in, of ICMPv6 type 2", status: Problem,
				why: "It drops what no rule lets in, and none lets ICMP in.", command: letIn(c.name())})
		}
	}
	if len(all) == 0 {
		return []seen{{value: fmt.Sprintf("%d rules, none drops it", len(f.Network.Rules)), needed: "none"}}
	}
	return all
}

// echoKey is the setting of a machine that answers no ping.
const echoKey = "net.ipv4.icmp_echo_ignore_all"

// echoes are left alone by Apply: who answers is for those to decide who keep the machine safe.
func echoes(f *Facts, _ Need) []seen {
	value, there := f.Sysctls[echoKey]
	if !there {
		return nil
	}
	s := seen{value: value, needed: "0", key: echoKey}
	if value != "0" {
		s.status, s.command, s.keep = Warning, settings(echoKey, "0")[0].command(), settings(echoKey, "0")[0].keep()
	}
	return []seen{s}
}

// letIn is a command that puts a rule before the others of a chain.
func letIn(chain string) string {
	family, _, _ := strings.Cut(chain, " ")
	switch family {
	case "iptables":
		return "iptables -I INPUT -p icmp --icmp-type destination-unreachable -j ACCEPT"
	case "ip6":
		return "nft insert rule " + chain + " icmpv6 type packet-too-big accept"
	}
	return "nft insert rule " + chain + " icmp type destination-unreachable accept"
}

// concernsSize says that a rule is of ICMP with the message that a packet is too large among it.
func (r Rule) concernsSize() bool {
	switch r.Protocol {
	case icmp4:
		return len(r.Types) == 0 || slices.Contains(r.Types, destinationUnreached)
	case icmp6:
		return len(r.Types) == 0 || slices.Contains(r.Types, packetTooBig)
	}
	return false
}

// acceptedBefore says that an earlier rule of the chain lets in what a rule drops.
func (f *Facts) acceptedBefore(drop Rule) bool {
	for _, r := range f.Network.Rules {
		switch {
		case r.Chain != drop.Chain:
		case r.Number >= drop.Number:
			return false
		case r.Accepts && !r.Narrow && (r.Related || r.Protocol == drop.Protocol && r.concernsSize()):
			return true
		}
	}
	return false
}

func dropsFragments(f *Facts, _ Need) []seen {
	if len(f.Network.Chains) == 0 {
		return nil
	}
	var all []seen
	for _, r := range f.Network.Rules {
		if r.Fragments && !r.Accepts && !r.Narrow {
			all = append(all, seen{subject: r.Chain, value: r.Text, needed: "none", status: Warning, command: "take the rule out"})
		}
	}
	if len(all) == 0 {
		return []seen{{value: fmt.Sprintf("%d rules, none drops them", len(f.Network.Rules)), needed: "none"}}
	}
	return all
}

func tracked(f *Facts, _ Need) []seen {
	count, err := strconv.ParseFloat(f.Sysctls["net.netfilter.nf_conntrack_count"], 64)
	most, errMost := strconv.ParseFloat(f.Sysctls["net.netfilter.nf_conntrack_max"], 64)
	if err != nil || errMost != nil || most == 0 {
		return nil
	}
	const much, full = 0.8, 0.95
	s := seen{value: fmt.Sprintf("%.0f of %.0f", count, most), needed: "under 80 %", key: "net.netfilter.nf_conntrack_max"}
	if count >= much*most {
		s.status, s.changes = Warning, settings("net.netfilter.nf_conntrack_max", number(whole(2*most)))
	}
	if count >= full*most {
		s.status = Problem
	}
	return []seen{s}
}

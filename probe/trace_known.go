package probe

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// RouteAddresses are the source of a Result and those that answered on its route, each once, in the order of the hops, there and back.
func RouteAddresses(r *measure.Result) (all []netip.Addr) {
	had := map[netip.Addr]bool{}
	add := func(text string) {
		if a, err := netip.ParseAddr(text); err == nil && !had[a] {
			had[a] = true
			all = append(all, a)
		}
	}
	add(r.Source.Address)
	hops := r.Samples.Hops
	if back := r.Samples.Return; back != nil {
		hops = slices.Concat(hops, back.Hops)
	}
	for _, h := range hops {
		for _, a := range h.Addresses {
			add(a)
		}
	}
	if r.Samples.Paths != nil {
		for _, v := range r.Samples.Paths.Vertices {
			add(v.Address)
		}
	}
	return all
}

// KnownText is what is known of an address in a line: its name, its system as traceroute -A has it, who owns it, and where it is.
//
//	home.example.net  [AS64500]  Example University, CH  at Geneva, CH
func KnownText(a measure.AddressInfo) string {
	var parts []string
	add := func(format, what string) {
		if what != "" {
			parts = append(parts, fmt.Sprintf(format, what))
		}
	}
	add("%s", a.Name)
	if a.ASN > 0 {
		parts = append(parts, fmt.Sprintf("[AS%d]", a.ASN))
	}
	owner := a.Owner
	if owner == "" {
		owner = a.ASName
	}
	country := a.Country
	if strings.HasSuffix(owner, ", "+country) { // Team Cymru's names end in it
		country = ""
	}
	add("%s", joined(owner, country))
	if a.Place != nil {
		add("at %s", joined(a.Place.City, a.Place.Country))
	}
	return strings.Join(parts, "  ")
}

// joined is two words with a comma between them, where there are two.
func joined(one, two string) string {
	if one == "" || two == "" {
		return one + two
	}
	return one + ", " + two
}

// KnownLines are what is known of addresses, a line each.
func KnownLines(all []measure.AddressInfo) (lines []string) {
	width := 0
	for _, a := range all {
		width = max(width, len(a.Address))
	}
	for _, a := range all {
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, a.Address, KnownText(a)))
	}
	return lines
}

// writeKnown writes what is known of all addresses of a route, below one that has no room for it.
func writeKnown(w io.Writer, r *measure.Result) {
	for _, line := range KnownLines(r.Samples.Addresses) {
		fmt.Fprintln(w, line)
	}
}

// hopKnown are the lines below a hop: what is known of those who answered, with their addresses where there are several.
func hopKnown(h measure.Hop, all []measure.AddressInfo) (lines []string) {
	for _, a := range all {
		for _, address := range h.Addresses {
			switch {
			case address != a.Address:
			case len(h.Addresses) == 1:
				lines = append(lines, "     "+KnownText(a))
			default:
				lines = append(lines, "     "+a.Address+"  "+KnownText(a))
			}
		}
	}
	return lines
}

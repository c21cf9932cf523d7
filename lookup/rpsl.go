package lookup

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// Owner is who registered addresses.
type Owner struct {
	Name    string
	Country string // two letters
}

// ReadOwners reads a WHOIS dump of a registry in RPSL: objects, parted by empty lines, of lines "attribute: value" (RFC 2622, section 2). Of inetnum and inet6num it
// takes the owner's name, which is the first of org-name, owner (LACNIC), descr and netname, and the country; other objects are left out, and so
// is a range that it cannot read, since dumps have some. An organisation that stands in an object of its own it does not look up.
//
//	inetnum:        192.0.2.0 - 192.0.2.255
//	netname:        EXAMPLE
//	descr:          Example University
//	country:        CH
func ReadOwners(r io.Reader) (*Table[Owner], error) {
	var all []span[Owner]
	names := map[string]string{}
	object := map[string]string{}
	end := func() {
		if s, ok := ownerOf(object); ok && len(all) < mostRanges {
			s.value.Name, s.value.Country = once(names, printable(s.value.Name)), once(names, s.value.Country)
			all = append(all, s)
		}
		clear(object)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		line := lines.Text()
		if strings.TrimSpace(line) == "" {
			end()
			continue
		}
		if strings.ContainsRune("%# \t+", rune(line[0])) { // a remark, or more of the attribute before
			continue
		}
		attribute, value, ok := strings.Cut(line, ":")
		attribute = strings.ToLower(strings.TrimSpace(attribute))
		if _, had := object[attribute]; ok && !had && attributes[attribute] {
			value, _, _ = strings.Cut(value, "#")
			object[attribute] = strings.TrimSpace(value)
		}
	}
	end()
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read registrations: %w", err)
	}
	return newTable(all), nil
}

// attributes are those that matter.
var attributes = map[string]bool{"inetnum": true, "inet6num": true, "org-name": true, "owner": true, "descr": true, "netname": true, "country": true}

// ownerOf is what an object says, if it is of addresses.
func ownerOf(object map[string]string) (s span[Owner], ok bool) {
	text := cmp.Or(object["inetnum"], object["inet6num"])
	s.value = Owner{cmp.Or(object["org-name"], object["owner"], object["descr"], object["netname"]), country(object["country"])}
	if text == "" || s.value.Name == "" {
		return s, false
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		return spanOf(p, s.value), true
	}
	from, to, _ := strings.Cut(text, "-")
	first, err := netip.ParseAddr(strings.TrimSpace(from))
	if err != nil || first.Zone() != "" {
		return s, false
	}
	last, err := netip.ParseAddr(strings.TrimSpace(to))
	if err != nil || last.Is4() != first.Is4() || last.Zone() != "" || last.Less(first) {
		return s, false
	}
	s.first, s.last = first, last
	return s, true
}

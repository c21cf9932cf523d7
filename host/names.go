package host

import (
	"net/netip"
	"slices"
	"strings"
)

// ownAddresses are what /etc/hosts says of this machine's name, or else the resolver.
func (s System) ownAddresses(name string) []netip.Addr {
	text, _ := s.read("etc/hosts")
	if found := parseHosts(text)[name]; len(found) > 0 || name == "" || s.Resolve == nil {
		return found
	}
	return s.Resolve(name)
}

// parseHosts reads lines of an address and names (hosts(5)).
func parseHosts(text string) map[string][]netip.Addr {
	all := map[string][]netip.Addr{}
	for line := range lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		a, err := netip.ParseAddr(fields[0])
		if err != nil {
			continue
		}
		for _, name := range fields[1:] {
			if !slices.Contains(all[name], a) {
				all[name] = append(all[name], a)
			}
		}
	}
	return all
}

package web

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// knownDoc is what is known of an address by the sources of the mesh file.
type knownDoc struct {
	measure.AddressInfo
	Text string `json:"text" doc:"The same but for the name, as people read it; empty: there is nothing else"`
}

// aboutOf are the names of addresses, and what else is known of those of which something is, sorted by address. Names of the mesh's hosts and of reverse lookup come before
// those of a hosts file.
func (s *Server) aboutOf(ctx context.Context, seen map[string]bool) (addressNames, []knownDoc) {
	names, docs := s.namesOf(seen), []knownDoc{}
	if s.Known == nil {
		return names, docs
	}
	var addresses []netip.Addr
	for text := range seen {
		if a, err := netip.ParseAddr(text); err == nil {
			addresses = append(addresses, a)
		}
	}
	for _, info := range s.Known(ctx, addresses) {
		if names[info.Address] == "" && info.Name != "" {
			names[info.Address] = info.Name
		}
		unnamed := info
		unnamed.Name = ""
		docs = append(docs, knownDoc{info, probe.KnownText(unnamed)})
	}
	slices.SortFunc(docs, func(a, b knownDoc) int { return cmp.Compare(a.Address, b.Address) })
	return names, docs
}

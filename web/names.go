package web

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// addressNames are what hosts and routers are called, by address.
type addressNames map[string]string

// beside is an address with the name of who has it, if it has one.
func (n addressNames) beside(address string) string {
	if name := n[address]; name != "" && name != address {
		return name + " (" + address + ")"
	}
	return address
}

// besideAll are addresses with the names of those who have them.
func (n addressNames) besideAll(addresses []string) []string {
	all := slices.Clone(addresses)
	for i, a := range all {
		all[i] = n.beside(a)
	}
	return all
}

// part is the name of a part for people: of a link or a router with names beside their addresses.
func (n addressNames) part(p analysis.Part) string {
	if p.Kind != analysis.OnLink && p.Kind != analysis.AtRouter {
		return p.Name
	}
	return strings.Join(n.besideAll(strings.Split(p.Name, analysis.LinkSeparator)), analysis.LinkSeparator)
}

// route is a route whose routers have their names beside their addresses, to be told in words.
func (n addressNames) route(r *analysis.Route) *analysis.Route {
	named := *r
	named.Hops = slices.Clone(r.Hops)
	for i := range named.Hops {
		h := &named.Hops[i]
		h.Addresses = n.besideAll(h.Addresses)
	}
	return &named
}

// namesOn are those of all who answered traces.
func (s *Server) namesOn(traces map[traced][]*measure.Result) addressNames {
	return s.namesOf(seenOn(traces))
}

// seenOn are the addresses of all who answered traces.
func seenOn(traces map[traced][]*measure.Result) map[string]bool {
	seen := map[string]bool{}
	for _, all := range traces {
		for _, r := range all {
			see(seen, r)
		}
	}
	return seen
}

// mostBack is how many addresses of a way back are looked up: a responder says what it likes, and a route has at most as many hops.
const mostBack = 64

func see(seen map[string]bool, r *measure.Result) {
	var back []string
	if r.Samples.Return != nil {
		back = addressesOf(r.Samples.Return.Hops)
	}
	for _, a := range slices.Concat(addressesOf(r.Samples.Hops), back[:min(mostBack, len(back))]) {
		seen[a] = true
	}
	if r.Samples.Paths != nil {
		for _, v := range r.Samples.Paths.Vertices {
			if v.Address != "" {
				seen[v.Address] = true
			}
		}
	}
}

// addressesOf are the addresses of all who answered at some hops.
func addressesOf(hops []measure.Hop) (all []string) {
	for _, h := range hops {
		all = append(all, h.Addresses...)
	}
	return all
}

// namesOf are those of the mesh's hosts and of reverse lookup, and where these have none, of a hosts file.
func (s *Server) namesOf(seen map[string]bool) addressNames {
	names := s.Control.Names(slices.Collect(maps.Keys(seen)))
	if s.Listed == nil {
		return names
	}
	for text := range seen {
		if a, err := netip.ParseAddr(text); err == nil && names[text] == "" {
			if name := s.Listed(a); name != "" {
				names[text] = name
			}
		}
	}
	return names
}

// namesOfParts are those of the routers and links among some parts.
func (s *Server) namesOfParts(parts []analysis.Part) addressNames {
	seen := map[string]bool{}
	for _, p := range parts {
		if p.Kind == analysis.OnLink || p.Kind == analysis.AtRouter {
			for _, a := range strings.Split(p.Name, analysis.LinkSeparator) {
				seen[a] = true
			}
		}
	}
	return s.namesOf(seen)
}

type namesDoc struct {
	Names addressNames `json:"names" doc:"By address: the host of the mesh that has it, or what reverse lookup, by the controller, called it when it was seen last, or a hosts file of the controller has for it"`
}

// resultNames are those of who answered a trace.
func (s *Server) resultNames(ctx context.Context, in *resultInput) (*body[namesDoc], error) {
	r, err := s.Archive.Result(ctx, in.ID)
	if err != nil {
		return nil, fault(err)
	}
	seen := map[string]bool{}
	see(seen, r)
	return &body[namesDoc]{namesDoc{s.namesOf(seen)}}, nil
}

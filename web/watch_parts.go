package web

import (
	"context"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
)

// watchRoutes is how far back routes are looked at: each hour or two most meshes trace.
const watchRoutes = 6 * time.Hour

// madeOf adds to pairs what they are made of: hosts, sites, and the routers and links of their newest route.
func (s *Server) madeOf(ctx context.Context, w *watched, now time.Time) error {
	traces, _, err := s.traces(ctx, "", "", now.Add(-watchRoutes), now)
	if err != nil {
		return err
	}
	hops := map[archive.Pair][]string{}
	for of, all := range traces {
		routes := analysis.Routes(all)
		if len(routes) == 0 {
			continue
		}
		newest := routes[len(routes)-1]
		_, routers := newest.Links()
		hops[archive.Pair{Source: of.source, Target: of.target}] = routers
	}
	for i, at := range w.at {
		p, n := &w.pairs[i], len(w.matrix.hosts)
		p.Parts = partsOf(p.Source, p.Target, w.matrix.hosts[at/n].Site, w.matrix.hosts[at%n].Site, hops[archive.Pair{Source: p.Source, Target: p.Target}])
	}
	return nil
}

// partsOf are the parts of a pair by its ends, their sites, and the routers of its route. A link is the same either way.
func partsOf(source, target, from, to string, routers []string) []analysis.Part {
	parts := endsOf(source, target, from, to)
	for i, r := range routers {
		parts = append(parts, analysis.Part{Kind: analysis.AtRouter, Name: r})
		if i > 0 {
			parts = append(parts, analysis.Part{Kind: analysis.OnLink, Name: min(r, routers[i-1]) + analysis.LinkSeparator + max(r, routers[i-1])})
		}
	}
	return parts
}

package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// traced is what one test traced: routes that another tool finds, or over the other family, may differ without any change.
type traced struct {
	source, target, test, tool string
	role                       measure.Role
	family                     string // of IP: ipv4 or ipv6
}

func tracedOf(r *measure.Result) traced {
	t := traced{r.Source.NameOrAddress(), r.Target.NameOrAddress(), r.Test, r.Tool, r.Role.Series(), "ipv4"}
	if strings.Contains(r.Target.Address, ":") {
		t.family = "ipv6"
	}
	if r.Way == measure.Reverse {
		t.source, t.target = t.target, t.source
	}
	return t
}

const (
	// mostTraces is how many Results of routes are looked at for a pair: ten days of one every five minutes.
	mostTraces = 3000
	// mostMeshTraces is how many are for all pairs at once: some 20 MB, and more than searchTime reaches.
	mostMeshTraces = 10_000
)

// traces reads what was traced between two hosts, oldest first, by what traced it. Where the source or the target is "", it is of
// any host, and only tests of the plan count. more: there may be older ones.
func (s *Server) traces(ctx context.Context, source, target string, from, to time.Time) (
	all map[traced][]*measure.Result, more bool, err error,
) {
	exactly := archive.Key{Source: source, Target: target}.Exactly()
	query := archive.ResultQuery{Source: exactly.Source, Target: exactly.Target, Kind: "trace", From: from, To: to}
	most := mostTraces
	if source == "" || target == "" {
		query.Role, most = string(measure.RolePlanned), mostMeshTraces
	}
	all = map[traced][]*measure.Result{}
	more, err = s.search(ctx, query, most, func(r *measure.Result) { all[tracedOf(r)] = append(all[tracedOf(r)], traceAlone(r)) })
	for _, traces := range all {
		slices.Reverse(traces)
	}
	return all, more, err
}

// traceAlone is what routes are made of: a Result without all else that it holds, and of round trips those to the end alone.
func traceAlone(r *measure.Result) *measure.Result {
	hops := slices.Clone(r.Samples.Hops)
	for i := range hops {
		if hops[i].Reply == "" {
			hops[i].RTTSeconds = nil
		}
	}
	return &measure.Result{ID: r.ID, Started: r.Started, Notes: r.Notes, Samples: measure.Samples{Hops: hops, Route: r.Samples.Route}}
}

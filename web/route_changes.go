package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// traced is what one test traced: routes that another tool finds, or over the other family, may differ without any change.
type traced struct {
	source, target, test, tool string
	role                       measure.Role
	ipv6                       bool
}

func tracedOf(r *measure.Result) traced {
	t := traced{cmp.Or(r.Source.Name, r.Source.Address), cmp.Or(r.Target.Name, r.Target.Address), r.Test, r.Tool, r.Role.Series(),
		strings.Contains(r.Target.Address, ":")}
	if r.Way == measure.Reverse {
		t.source, t.target = t.target, t.source
	}
	return t
}

// mostMeshTraces is how many Results of routes are looked at for all pairs at once: some 20 MB, and more than searchTime reaches.
const mostMeshTraces = 10_000

// changesOfRoutes reads which routes changed between two hosts; of tests of the plan alone, where both are not given.
func (s *Server) changesOfRoutes(ctx context.Context, source, target string, from, to time.Time) (changes []changeDoc, more bool, err error) {
	exactly := archive.Key{Source: source, Target: target}.Exactly()
	query := archive.ResultQuery{Source: exactly.Source, Target: exactly.Target, Kind: "trace", From: from, To: to}
	most := mostTraces
	if source == "" || target == "" {
		query.Role, most = string(measure.RolePlanned), mostMeshTraces
	}
	all := map[traced][]*measure.Result{}
	more, err = s.search(ctx, query, most, func(r *measure.Result) { all[tracedOf(r)] = append(all[tracedOf(r)], traceAlone(r)) })
	if err != nil {
		return nil, false, err
	}
	for of, traces := range all {
		slices.Reverse(traces)
		changes = append(changes, routeChanges(of, joinRoutes(traces))...)
	}
	return changes, more, nil
}

// routeChanges are the beginnings of all routes but the first.
func routeChanges(of traced, routes []routeDoc) (changes []changeDoc) {
	for i := 1; i < len(routes); i++ {
		before, r := &routes[i-1], &routes[i]
		changes = append(changes, changeDoc{At: r.First, Kind: "route", Severity: "info", Text: routeText(before, r), Result: r.Result,
			Source: of.source, Target: of.target, Before: &before.Last})
	}
	return changes
}

// meshRoutes remembers which routes of all pairs changed: it is looked up once for all who ask the same within matrixAge.
type meshRoutes struct {
	mu      sync.Mutex
	began   time.Time
	asked   string
	changes []changeDoc
	more    bool
}

// get returns what find finds, or found a moment ago.
func (m *meshRoutes) get(asked string, find func() ([]changeDoc, bool, error)) ([]changeDoc, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == asked && time.Since(m.began) < matrixAge {
		return slices.Clone(m.changes), m.more, nil
	}
	began := time.Now()
	changes, more, err := find()
	if err != nil {
		return nil, false, err
	}
	m.began, m.asked, m.changes, m.more = began, asked, changes, more
	return slices.Clone(changes), more, nil
}

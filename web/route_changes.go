package web

import (
	"context"
	"fmt"
	"time"
)

// foundChanges are changes of routes. more: there may be others before.
type foundChanges struct {
	changes []changeDoc
	more    bool
}

// changesOfRoutes reads which routes changed between two hosts. Those of all pairs are looked up once for all who ask the same at
// about the same time.
func (s *Server) changesOfRoutes(ctx context.Context, source, target string, from, to time.Time) (foundChanges, error) {
	find := func(ctx context.Context) (found foundChanges, err error) {
		all, more, err := s.traces(ctx, source, target, from, to)
		if err != nil {
			return found, err
		}
		for of, traces := range all {
			found.changes = append(found.changes, routeChanges(of, joinRoutes(traces))...)
		}
		found.more = more
		return found, nil
	}
	if source != "" || target != "" {
		return find(ctx)
	}
	return s.meshRoutes.get(ctx, fmt.Sprint(from.Truncate(matrixAge), to.Truncate(matrixAge)), time.Now(), find)
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

package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/diagnose"
)

// routeDoc is a route that held for a time, as one test found it.
type routeDoc struct {
	Test   string `json:"test,omitempty" doc:"Which traced it; none: a test on demand"`
	Tool   string `json:"tool"`
	Role   string `json:"role" doc:"Why it was traced"`
	Family string `json:"family" enum:"ipv4,ipv6" doc:"Of IP"`
	analysis.Route
}

type routesDoc struct {
	Routes []routeDoc   `json:"routes" doc:"Oldest first"`
	Names  addressNames `json:"names" doc:"By address: the host of the mesh that has it, or what reverse lookup, by the controller, called it when it was seen last"`
	More   bool         `json:"more" doc:"Whether there may be more before these, of Results that were not looked at: ask for a span that ends there"`
}

type routesInput struct {
	Source string `path:"source"`
	Target string `path:"target"`
	Span
}

func (s *Server) routes(ctx context.Context, in *routesInput) (*body[routesDoc], error) {
	now := time.Now()
	all, more, err := s.traces(ctx, in.Source, in.Target, in.From.At(now), in.To.At(now))
	if err != nil {
		return nil, fault(err)
	}
	routes := []routeDoc{}
	for of, traces := range all {
		for _, r := range analysis.Routes(traces) {
			routes = append(routes, routeDoc{of.test, of.tool, string(of.role), of.family, r})
		}
	}
	slices.SortFunc(routes, func(a, b routeDoc) int { return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Result, b.Result)) })
	return &body[routesDoc]{routesDoc{routes, s.namesOn(all), more}}, nil
}

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
		names := s.namesOn(all)
		for of, traces := range all {
			found.changes = append(found.changes, routeChanges(of, analysis.CourseOf(traces), names)...)
		}
		found.more = more
		return found, nil
	}
	if source != "" || target != "" {
		return find(ctx)
	}
	return s.meshRoutes.get(ctx, fmt.Sprint(from.Truncate(matrixAge), to.Truncate(matrixAge)), time.Now(), find)
}

// routeChanges are the changes of routes that lasted, and the beginnings of times in which they flapped.
func routeChanges(of traced, course analysis.Course, names addressNames) (changes []changeDoc) {
	for i := range course.Moves {
		m := course.Moves[i]
		before := m.Before.Last
		m.Before, m.After = *names.route(&m.Before), *names.route(&m.After)
		changes = append(changes, changeDoc{At: m.After.First, Kind: "route", Severity: "info", Text: diagnose.MoveText(&m), Result: m.After.Result,
			Source: of.source, Target: of.target, Before: &before})
	}
	for i := range course.Turns {
		t := course.Turns[i]
		if t.How != analysis.Flapping {
			continue
		}
		t.Routes = slices.Clone(t.Routes)
		for k := range t.Routes {
			t.Routes[k] = *names.route(&t.Routes[k])
		}
		changes = append(changes, changeDoc{At: t.First, Kind: "route", Severity: "warning", Text: diagnose.TurnsText(&t), Result: t.Routes[0].Result,
			Source: of.source, Target: of.target, Before: &t.First})
	}
	return changes
}

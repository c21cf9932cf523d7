package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
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
	Routes  []routeDoc   `json:"routes" doc:"Oldest first; each time that one was seen, whether that is a change or not"`
	Courses []courseDoc  `json:"courses" doc:"What that comes to, of each test: which changes are some"`
	Names   addressNames `json:"names" doc:"By address: the host of the mesh that has it, or what reverse lookup, by the controller, called it when it was seen last, or a hosts file of the controller has for it"`
	Known   []knownDoc   `json:"known" doc:"What else is known of addresses, where the mesh file says where to look: autonomous systems, owners, places"`
	More    bool         `json:"more" doc:"Whether there may be more before these, of Results that were not looked at: ask for a span that ends there"`
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
	doc := routesDoc{Routes: []routeDoc{}, Courses: []courseDoc{}, More: more}
	doc.Names, doc.Known = s.aboutOf(ctx, seenOn(all))
	for of, traces := range all {
		for _, r := range analysis.Routes(traces) {
			doc.Routes = append(doc.Routes, routeDoc{of.test, of.tool, string(of.role), of.family, r})
		}
		doc.Courses = append(doc.Courses, courseOf(of, traces, doc.Names))
	}
	slices.SortFunc(doc.Routes, func(a, b routeDoc) int { return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Result, b.Result)) })
	slices.SortFunc(doc.Courses, func(a, b courseDoc) int {
		return cmp.Or(cmp.Compare(a.Test, b.Test), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Family, b.Family))
	})
	return &body[routesDoc]{doc}, nil
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
		m := &course.Moves[i]
		changes = append(changes, changeDoc{At: m.After.First, Kind: "route", Severity: "info", Text: moveText(*m, names), Result: m.After.Result,
			Source: of.source, Target: of.target, Before: &m.Before.Last})
	}
	for i := range course.Turns {
		if t := &course.Turns[i]; t.How == analysis.Flapping {
			changes = append(changes, changeDoc{At: t.First, Kind: "route", Severity: "warning", Text: turnsText(*t, names), Result: t.Routes[0].Result,
				Source: of.source, Target: of.target, Before: &t.First})
		}
	}
	return changes
}

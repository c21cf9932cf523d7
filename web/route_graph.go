package web

import (
	"context"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
)

// routeGraphDoc is the routes of all pairs in one.
type routeGraphDoc struct {
	From time.Time `json:"from" doc:"Since when traces are looked at, and changes marked"`
	To   time.Time `json:"to"`
	analysis.Graph
	Pairs int          `json:"pairs" doc:"Whose routes these are"`
	Names addressNames `json:"names" doc:"By address: the host of the mesh that has it, or what reverse lookup, by the controller, called it when it was seen last, or a hosts file of the controller has for it"`
	Known []knownDoc   `json:"known" doc:"What else is known of addresses, where the mesh file says where to look: autonomous systems, owners, places"`
	More  bool         `json:"more" doc:"Whether there are older traces in this span than could be looked at"`
}

type routeGraphInput struct {
	From moment `query:"from" doc:"The beginning; a day ago, where none is given"`
	To   moment `query:"to" doc:"The end; now, where none is given"`
}

// graphSpan is how much of the past a graph is of where nothing is said.
const graphSpan = 24 * time.Hour

// routeGraph joins the routes that planned tests trace. It is made once for all who ask the same at about the same time.
func (s *Server) routeGraph(ctx context.Context, in *routeGraphInput) (*body[routeGraphDoc], error) {
	now := time.Now()
	from, to := spanUntil(in.From, in.To, now, graphSpan)
	if !from.Before(to) {
		return nil, fault(badField("from", from.Format(time.RFC3339), "a time before to"))
	}
	doc, err := s.meshGraph.get(ctx, fmt.Sprint(from.Truncate(matrixAge), to.Truncate(matrixAge)), now, func(ctx context.Context) (doc routeGraphDoc, err error) {
		all, more, err := s.traces(ctx, "", "", from, to)
		if err != nil {
			return doc, err
		}
		var pairs []analysis.TracedPair
		seen := map[[2]string]bool{}
		for of, traces := range all {
			pairs = append(pairs, analysis.TracedPair{Source: of.source, Target: of.target, Course: analysis.CourseOf(traces), Traces: traces})
			seen[[2]string{of.source, of.target}] = true
		}
		names, known := s.aboutOf(ctx, seenOn(all))
		return routeGraphDoc{From: from.UTC(), To: to.UTC(), Graph: analysis.GraphOf(pairs), Pairs: len(seen), Names: names, Known: known, More: more}, nil
	})
	if err != nil {
		return nil, fault(err)
	}
	return &body[routeGraphDoc]{doc}, nil
}

package web

import (
	"context"

	"github.com/pathwise-net/pathwise/probe"
)

// wayDoc is probe.WayWords.
type wayDoc struct {
	Hops  [][]string `json:"hops" doc:"Hop by hop, what it told beside that it is there: labels of MPLS, interfaces, marks, MTU; but for what the hop before it told"`
	Lines []string   `json:"lines" doc:"What hops say together, as sentences"`
}

// routeWordsDoc is what people read of the Result of a route beside its table.
type routeWordsDoc struct {
	Names       addressNames `json:"names" doc:"By address: the host of the mesh that has it, or what reverse lookup, by the controller, called it when it was seen last, or a hosts file of the controller has for it"`
	Known       []knownDoc   `json:"known" doc:"What else is known of addresses, where the mesh file says where to look: autonomous systems, owners, places"`
	Route       wayDoc       `json:"route" doc:"The way there"`
	Return      wayDoc       `json:"return" doc:"The way back, where it was traced, or where larger packets vanish on it"`
	Middleboxes []string     `json:"middleboxes" doc:"A sentence for each change of samples.middleboxes"`
	Extent      string       `json:"extent" doc:"How far it is known what middleboxes do; empty: it was not asked"`
	Proxy       string       `json:"proxy" doc:"Who answers in the name of the target; empty: nobody"`
}

// resultRoute are the words and names of a route.
func (s *Server) resultRoute(ctx context.Context, in *resultInput) (*body[routeWordsDoc], error) {
	r, err := s.Archive.Result(ctx, in.ID)
	if err != nil {
		return nil, fault(err)
	}
	seen := map[string]bool{}
	see(seen, r)
	names, known := s.aboutOf(ctx, seen)
	w := probe.WordsOf(r)
	return &body[routeWordsDoc]{routeWordsDoc{Names: names, Known: known, Route: wayDoc(w.Route), Return: wayDoc(w.Return), Middleboxes: w.Middleboxes, Extent: w.Known, Proxy: w.Proxy}}, nil
}

package web

import (
	"context"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/lab/faults"
)

// explaining is the part of the table that says what words mean.
func (s *Server) explaining(a huma.API) {
	add(a, get("knowledge", account.Read, "/knowledge", "What each finding, metric, formula, fault and term means"), s.knowledge)
}

type knowledgeDoc struct {
	Entries []knowledge.Entry `json:"entries"`
}

func (s *Server) knowledge(context.Context, *struct{}) (*body[knowledgeDoc], error) {
	return &body[knowledgeDoc]{knowledgeDoc{Knowledge()}}, nil
}

// faultPrefix keeps apart a fault that the lab plays and the finding or the term of the same name.
const faultPrefix = "fault-"

// Knowledge is the whole knowledge base: its own entries, and one for each fault in the library of the lab. It is made once,
// since reading that library takes a while; callers do not change it.
var Knowledge = sync.OnceValue(func() []knowledge.Entry {
	all := knowledge.Entries()
	known := map[string]bool{}
	for i := range all {
		known[all[i].ID] = true
	}
	cases := faults.List()
	for i := range cases {
		f := &cases[i]
		e := knowledge.Entry{ID: faultPrefix + f.Name, Kind: knowledge.Fault, Title: f.Title, Shows: f.Condition, Source: f.Source,
			See:  []string{},
			Text: strings.TrimSpace(f.Cause) + " The lab plays it: pathwise lab run " + f.Name + "."}
		for _, id := range []string{f.Finding, f.Name} {
			if known[id] && (len(e.See) == 0 || e.See[0] != id) {
				e.See = append(e.See, id)
			}
		}
		all = append(all, e)
	}
	return all
})

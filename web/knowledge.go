package web

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/calc"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/lab/faults"
)

// explaining is the part of the table that says what words mean.
func (s *Server) explaining(a huma.API) {
	add(a, get("knowledge", account.Read, "/knowledge", "What each finding, metric, formula, fault and term means"), s.knowledge)
	add(a, get("titles", account.Read, "/titles", "What each finding, each verdict of a diagnosis and each setting of an audit is called"), s.titles)
}

type knowledgeDoc struct {
	Entries []knowledge.Entry `json:"entries"`
}

func (s *Server) knowledge(context.Context, *struct{}) (*body[knowledgeDoc], error) {
	return &body[knowledgeDoc]{knowledgeDoc{Knowledge()}}, nil
}

type titlesDoc struct {
	Titles map[string]string `json:"titles" doc:"By ID"`
}

func (s *Server) titles(context.Context, *struct{}) (*body[titlesDoc], error) {
	titles := knowledge.Titles()
	for _, i := range host.Items() { // what audits find
		titles[i.ID] = cmp.Or(titles[i.ID], i.Title)
	}
	return &body[titlesDoc]{titlesDoc{titles}}, nil
}

// faultPrefix keeps apart a fault that the lab plays and the finding or the term of the same name.
const faultPrefix = "fault-"

// Knowledge is the whole knowledge base: its own entries, one for each setting that is audited and one for each fault in the library of the lab. A
// setting of the name of a term, such as mtu, is explained by that. It is made once,
// since reading that library takes a while; callers do not change it.
var Knowledge = sync.OnceValue(func() []knowledge.Entry {
	all := knowledge.Entries()
	known := map[string]bool{}
	for i := range all {
		known[all[i].ID] = true
	}
	for _, i := range host.Items() {
		if !known[i.ID] {
			all = append(all, settingEntry(i))
		}
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

// settingEntry says of a setting of a host what it does, where it is read, and what it should be.
func settingEntry(i host.Item) knowledge.Entry {
	e := knowledge.Entry{ID: i.ID, Kind: knowledge.Setting, Title: i.Title, Text: i.Means, Source: i.Source, See: []string{"host-settings"},
		Shows: "pathwise host --only " + i.ID + " reads it: " + cmp.Or(i.Key, i.Reads) + "."}
	if i.Formula != "" {
		e.Shows += " What is needed: " + i.Formula + "."
	}
	return e
}

// calculating is the part of the table that works formulas out.
func (s *Server) calculating(a huma.API) {
	add(a, get("formulas", account.Read, "/formulas", "The formulas that can be worked out, and what each asks for"), s.formulas)
	add(a, get("formula", account.Read, "/formulas/{name}", "A formula worked out, with its drawings"), s.formula)
}

type formulasDoc struct {
	Formulas []calc.Formula `json:"formulas"`
}

func (s *Server) formulas(context.Context, *struct{}) (*body[formulasDoc], error) {
	return &body[formulasDoc]{formulasDoc{calc.All()}}, nil
}

type formulaInput struct {
	Name string   `path:"name" example:"mathis"`
	In   []string `query:"in,explode" maxItems:"20" doc:"Inputs as name=value; those left out have their defaults" example:"[\"rtt=50ms\",\"loss=0.01%\"]"`
}

type formulaDoc struct {
	Name   string         `json:"name"`
	Lines  []calc.Line    `json:"lines" doc:"The working, step by step, and figures by the way"`
	Curves []calc.Drawing `json:"curves"`
}

func (s *Server) formula(_ context.Context, in *formulaInput) (*body[formulaDoc], error) {
	formula, err := calc.Find(in.Name)
	if err != nil {
		return nil, fault(err)
	}
	given := map[string]string{}
	for _, pair := range in.In {
		name, value, found := strings.Cut(pair, "=")
		if _, twice := given[name]; !found || twice {
			return nil, fault(badField("in", pair, fmt.Sprintf("each input once, as name=value, such as %s=…", formula.Inputs[0].Name)))
		}
		given[name] = value
	}
	answer, curves, err := formula.Draw(given)
	if err != nil {
		return nil, fault(err)
	}
	return &body[formulaDoc]{formulaDoc{formula.Name, answer.Lines, curves}}, nil
}

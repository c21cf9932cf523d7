package web

import (
	"context"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/calc"
)

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
			return nil, fault(&badField{"in", pair, fmt.Sprintf("each input once, as name=value, such as %s=…", formula.Inputs[0].Name)})
		}
		given[name] = value
	}
	answer, curves, err := formula.Draw(given)
	if err != nil {
		return nil, fault(err)
	}
	return &body[formulaDoc]{formulaDoc{formula.Name, answer.Lines, curves}}, nil
}

package web

import (
	"context"
	"fmt"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// tooling is the part of the table that says with what a test may be made.
func (s *Server) tooling(a huma.API) {
	add(a, get("tools", account.Read, "/tools",
		"What a test may be made with: the tools of the mesh, then the kinds of probe, with what each can be told"), s.tools)
}

// toolDoc is a tool of the mesh, or a kind of probe as it is.
type toolDoc struct {
	Name            string         `json:"name" example:"rtt"`
	Kind            string         `json:"kind" doc:"Of probe; command: it is a program" example:"ping"`
	OfMesh          bool           `json:"of_mesh" doc:"The mesh file has it, with parameters of its own"`
	Usage           string         `json:"usage" doc:"What its kind measures"`
	DurationSeconds float64        `json:"duration_seconds" doc:"As its parameters are; 0: not known"`
	Exclusive       bool           `json:"exclusive" doc:"It needs both ends' interfaces alone, so that it may have to wait"`
	Parameters      []parameterDoc `json:"parameters" doc:"What a request may set; none of a program"`
}

type parameterDoc struct {
	Name    string `json:"name" example:"count"`
	Type    string `json:"type" example:"whole number"`
	Default string `json:"default" doc:"What holds if it is left out" example:"10"`
	Usage   string `json:"usage" example:"echoes to send"`
}

type toolsDoc struct {
	Tools []toolDoc `json:"tools"`
}

func (s *Server) tools(context.Context, *struct{}) (*body[toolsDoc], error) {
	doc := toolsDoc{Tools: []toolDoc{}}
	mesh := s.Control.Mesh()
	for i := range mesh.Tools {
		if t := &mesh.Tools[i]; !t.Offline {
			k, _ := probe.KindOf(t.Kind)
			doc.Tools = append(doc.Tools, describe(t, k, true))
		}
	}
	for _, k := range probe.Kinds() {
		if k.Name != config.KindCommand { // programs are the mesh file's to name
			doc.Tools = append(doc.Tools, describe(&config.Tool{Name: k.Name, Kind: k.Name}, k, false))
		}
	}
	return &body[toolsDoc]{doc}, nil
}

func describe(t *config.Tool, k probe.Kind, ofMesh bool) toolDoc {
	doc := toolDoc{Name: t.Name, Kind: t.Kind, OfMesh: ofMesh, Usage: k.Meaning, Exclusive: true, Parameters: []parameterDoc{}}
	demand := t.Adjust(measure.Demand{Exclusive: true})
	if t.Kind != config.KindCommand {
		for _, p := range k.Parameters {
			if p.Outward {
				continue
			}
			if own, set := t.Parameters[p.Name]; set {
				p.Default = plain(own)
			}
			doc.Parameters = append(doc.Parameters, parameterDoc{p.Name, p.Type, p.Default, p.Meaning})
		}
		if d, err := probe.Demand(measure.Task{Kind: t.Kind, Parameters: t.Parameters}); err == nil {
			demand = t.Adjust(d)
		}
	}
	doc.DurationSeconds, doc.Exclusive = demand.DurationSeconds, demand.Exclusive
	return doc
}

// plain is a parameter's value as people write it.
func plain(v any) string {
	if f, is := v.(float64); is {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

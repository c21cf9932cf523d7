package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/web/labs"
)

// laboratory is the part of the table by which people watch and change the labs of the controller's machine.
func (s *Server) laboratory(a huma.API) {
	add(a, get("labs", account.Read, "/labs",
		"The labs of the controller's machine that are up, and the faults that their links can be given"), s.labs)
	add(a, get("lab", account.Read, "/labs/{lab}", "A lab: its nodes, what each link does and did, what can be taken back"), s.lab)
	add(a, post("change-link", account.Admin, "/labs/{lab}/links/{link}",
		"Change a link while packets flow: settings, or a fault by its name; for good or for a time"), s.changeLink)
	add(a, post("undo-lab", account.Admin, "/labs/{lab}/undo", "Take changes of links back that were made here, newest first"), s.undoLab)
	add(a, stream(post("test-lab", account.Admin, "/labs/{lab}/tests",
		"Measure from one host of a lab to another; the answer is a line for each thing that happens, the Result last"), jsonLines), s.testLab)
}

type labsDoc struct {
	Enabled bool         `json:"enabled" doc:"Whether the controller shows labs: controller.labs in the mesh file"`
	Labs    []string     `json:"labs"`
	Faults  []labs.Fault `json:"faults"`
}

func (s *Server) labs(context.Context, *struct{}) (*body[labsDoc], error) {
	if s.Labs == nil {
		return &body[labsDoc]{labsDoc{false, []string{}, []labs.Fault{}}}, nil
	}
	names, err := s.Labs.Names()
	if err != nil {
		return nil, fault(err)
	}
	return &body[labsDoc]{labsDoc{true, names, labs.Faults()}}, nil
}

type labInput struct {
	Lab string `path:"lab"`
}

// lab answers with a lab; who changed it is for administrators.
func (s *Server) lab(ctx context.Context, in *labInput) (*body[*labs.Lab], error) {
	if s.Labs == nil {
		return nil, fault(labs.ErrOff)
	}
	doc, err := s.Labs.Lab(in.Lab)
	if err != nil {
		return nil, fault(err)
	}
	if !visitorOf(ctx).may(account.Admin) {
		shown := *doc // which others have, too
		shown.Changes = slices.Clone(doc.Changes)
		for i := range shown.Changes {
			shown.Changes[i].By = ""
		}
		doc = &shown
	}
	return &body[*labs.Lab]{doc}, nil
}

type changeLinkInput struct {
	Lab  string `path:"lab"`
	Link int    `path:"link" doc:"Its number, from 0"`
	Body struct {
		Direction labs.Direction `json:"direction,omitempty" enum:"both,forward,reverse" default:"both"`
		Settings  []string       `json:"settings,omitempty" maxItems:"20" doc:"KEY=VALUE as in a lab file; KEY= alone leaves it to its default" example:"[\"delay=20ms\", \"loss=1%\"]"`
		Fault     string         `json:"fault,omitempty" doc:"The name of a fault, in place of settings"`
		Seconds   float64        `json:"for_seconds,omitempty" minimum:"0" maximum:"3600" doc:"After which it ends by itself; 0: it stays, or, of a fault that is for a time, for the time of that fault"`
	}
}

// changeLink answers with the lab as it is then.
func (s *Server) changeLink(ctx context.Context, in *changeLinkInput) (*body[*labs.Lab], error) {
	b := &in.Body
	what := fmt.Sprintf("link %d of lab %q, %s: %q", in.Link, in.Lab, b.Direction, b.Settings)
	if b.Fault != "" {
		what = fmt.Sprintf("link %d of lab %q, %s: fault %q", in.Link, in.Lab, b.Direction, b.Fault)
	}
	if b.Seconds > 0 {
		what += fmt.Sprintf(" for %v s", b.Seconds)
	}
	if err := s.noteLab(ctx, "change-link", what); err != nil {
		return nil, fault(err)
	}
	doc, err := s.Labs.Change(in.Lab, labs.Wish{
		Link: in.Link, Direction: b.Direction, Settings: b.Settings, Fault: b.Fault, Seconds: b.Seconds, By: nameOf(visitorOf(ctx).actor()),
	})
	if err != nil {
		return nil, fault(err)
	}
	return &body[*labs.Lab]{doc}, nil
}

type undoLabInput struct {
	Lab  string `path:"lab"`
	Body struct {
		Link *int `json:"link,omitempty" doc:"Only changes of this one"`
		All  bool `json:"all,omitempty" doc:"All of them, not the newest alone"`
	}
}

// undoLab answers with the lab as it is then.
func (s *Server) undoLab(ctx context.Context, in *undoLabInput) (*body[*labs.Lab], error) {
	what := fmt.Sprintf("lab %q", in.Lab)
	if in.Body.Link != nil {
		what = fmt.Sprintf("link %d of %s", *in.Body.Link, what)
	}
	if in.Body.All {
		what += ", all"
	}
	if err := s.noteLab(ctx, "undo-lab", what); err != nil {
		return nil, fault(err)
	}
	doc, err := s.Labs.Undo(in.Lab, in.Body.Link, in.Body.All)
	if err != nil {
		return nil, fault(err)
	}
	return &body[*labs.Lab]{doc}, nil
}

type testLabInput struct {
	Lab  string `path:"lab"`
	Body labs.Test
}

// labLine is a line of a test's answer; an error is the last one.
type labLine struct {
	labs.Line
	Error string `json:"error,omitempty"`
}

// testLab streams what happens. A client that goes away ends the test.
func (s *Server) testLab(ctx context.Context, in *testLabInput) (*huma.StreamResponse, error) {
	if err := s.noteLab(ctx, "test-lab", fmt.Sprintf("lab %q: %s from %q to %q", in.Lab, in.Body.Kind, in.Body.From, in.Body.To)); err != nil {
		return nil, fault(err)
	}
	do := func(ctx context.Context, show func(labLine)) error {
		err := s.Labs.Test(ctx, in.Lab, in.Body, func(l labs.Line) { show(labLine{Line: l}) })
		if err != nil && statusOf(err) == http.StatusInternalServerError { // it was made, and found that nothing passes
			show(labLine{Error: err.Error()})
			return nil
		}
		return err
	}
	return streamed(ctx, s, do, func(err error) labLine { return labLine{Error: err.Error()} }), nil
}

// noteLab writes down who asks for what of a lab, if there are labs at all.
func (s *Server) noteLab(ctx context.Context, what, of string) error {
	if s.Labs == nil {
		return labs.ErrOff
	}
	return s.note(ctx, what, of)
}

package web

import (
	"context"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/control"
)

// DiagnosisRequest is what a client posts to /api/v1/diagnoses.
type DiagnosisRequest struct {
	Source   string   `json:"source" doc:"A host of the mesh that runs an agent"`
	Target   string   `json:"target" doc:"Another host of the mesh"`
	Family   string   `json:"family,omitempty" enum:"ipv4,ipv6" doc:"Over which all of its steps go; left out: over that of the hosts' first addresses that fit"`
	Segments bool     `json:"segments,omitempty" doc:"Also measure the parts of the path between hosts of the mesh along it, and say which one is to blame"`
	Points   []string `json:"points,omitempty" maxItems:"8" doc:"Those hosts, with agents, in any order, which implies segments; left out: those that traces show on the route"`
	// As of RunRequest.
	PatienceSeconds float64 `json:"patience_seconds,omitempty" minimum:"0" maximum:"86400" doc:"How long its steps may wait for their turns, all together; left out or 0: two minutes"`
}

type diagnosisInput struct{ Body DiagnosisRequest }

// startDiagnosis measures between two hosts what a diagnosis needs, and streams a control.DiagnosisLine for each thing that
// happens, the diagnosis last. A client that goes away ends it.
func (s *Server) startDiagnosis(ctx context.Context, in *diagnosisInput) (*huma.StreamResponse, error) {
	what := fmt.Sprintf("from %s to %s", in.Body.Source, in.Body.Target)
	do := func(ctx context.Context, show func(control.DiagnosisLine)) error {
		return s.noted(ctx, "diagnose", what, func(ctx context.Context, begins func()) error {
			_, err := s.Control.Diagnose(ctx, control.DiagnosisRequest{
				Source: in.Body.Source, Target: in.Body.Target, Patience: time.Duration(in.Body.PatienceSeconds * float64(time.Second)),
				Segments: in.Body.Segments || len(in.Body.Points) > 0, Points: in.Body.Points,
				Family: in.Body.Family, Caller: visitorOf(ctx).caller(),
				Show: func(l control.DiagnosisLine) {
					if l.State == control.StepRunning {
						begins()
					}
					show(l)
				},
			})
			return err
		})
	}
	return streamed(ctx, s, do, func(err error) control.DiagnosisLine { return control.DiagnosisLine{Error: err.Error()} }), nil
}

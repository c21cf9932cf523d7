package web

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/control"
)

// DiagnosisRequest is what a client posts to /api/v1/diagnoses.
type DiagnosisRequest struct {
	Source string `json:"source" doc:"A host of the mesh that runs an agent"`
	Target string `json:"target" doc:"Another host of the mesh"`
	// As of RunRequest.
	PatienceSeconds float64 `json:"patience_seconds,omitempty" minimum:"0" maximum:"86400" doc:"How long its steps may wait for their turns, all together; left out or 0: two minutes"`
}

type diagnosisInput struct{ Body DiagnosisRequest }

// startDiagnosis measures between two hosts what a diagnosis needs, and streams a control.DiagnosisLine for each thing that
// happens, the diagnosis last. A client that goes away ends it.
func (s *Server) startDiagnosis(ctx context.Context, in *diagnosisInput) (*huma.StreamResponse, error) {
	if v := visitorOf(ctx); v.Kind != account.KindOwner {
		asked := fmt.Sprintf("from %s to %s", in.Body.Source, in.Body.Target)
		if err := s.Accounts.Note(account.NewEntry(v.actor(), "diagnose", asked, "asked")); err != nil {
			return nil, fault(fmt.Errorf("write down who asks: %w", err))
		}
	}
	return &huma.StreamResponse{Body: func(answer huma.Context) { s.diagnose(ctx, &in.Body, answer) }}, nil
}

func (s *Server) diagnose(ctx context.Context, request *DiagnosisRequest, answer huma.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, w := humago.Unwrap(answer)
	out := newPatient(w)
	line := func(l control.DiagnosisLine) {
		if !out.any {
			w.Header().Set("Content-Type", jsonLines)
		}
		if json.NewEncoder(out).Encode(l) != nil || out.control.Flush() != nil {
			cancel() // nobody reads it
		}
	}
	_, err := s.Control.Diagnose(ctx, control.DiagnosisRequest{
		Source: request.Source, Target: request.Target, Patience: time.Duration(request.PatienceSeconds * float64(time.Second)),
		Caller: visitorOf(ctx).caller(), Show: line,
	})
	switch {
	case err == nil:
	case out.any:
		line(control.DiagnosisLine{Error: err.Error()})
	default:
		out.fail(err)
	}
}

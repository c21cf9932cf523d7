package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web/edit"
)

// changeDoc is something that a time line marks.
type changeDoc struct {
	At       time.Time `json:"at"`
	Kind     string    `json:"kind" enum:"route,finding,configuration"`
	Severity string    `json:"severity" enum:"info,warning,problem"`
	Text     string    `json:"text"`
	Result   string    `json:"result,omitempty" doc:"The ID of what says so"`
	By       string    `json:"by,omitempty" doc:"Who did it"`

	// Of a route, which is told in one of many pairs' places.
	Source string     `json:"source,omitempty" doc:"Of a route: from where it leads"`
	Target string     `json:"target,omitempty" doc:"Of a route: where it leads"`
	Before *time.Time `json:"before,omitempty" doc:"Of a route: when the one before it was seen last"`
}

type changesDoc struct {
	Changes []changeDoc `json:"changes" doc:"Oldest first"`
	More    bool        `json:"more" doc:"Whether there may be more before these: of more than 500, or of more Results than can be looked at, these are the newest"`
}

type changesInput struct {
	Source string `query:"source" doc:"A host; with target, routes of this pair are of all traces, and not of planned ones alone"`
	Target string `query:"target" doc:"A host"`
	Span
}

// mostChanges are as many marks as any time line can show side by side.
const mostChanges = 500

func (s *Server) changes(ctx context.Context, in *changesInput) (*body[changesDoc], error) {
	now := time.Now()
	from, to := in.From.At(now), in.To.At(now)
	changes, more, err := s.findings(ctx, in.Source, in.Target, from, to)
	if err != nil {
		return nil, fault(err)
	}
	routes, err := s.changesOfRoutes(ctx, in.Source, in.Target, from, to)
	if err != nil {
		return nil, fault(err)
	}
	changes, more = append(changes, routes.changes...), more || routes.more
	if s.Config != nil {
		versions, err := s.Config.Changes(from, to)
		if err != nil {
			return nil, fault(err)
		}
		changes = append(changes, configurations(versions, visitorOf(ctx).may(account.Admin))...)
	}
	slices.SortStableFunc(changes, func(a, b changeDoc) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Text, b.Text)) })
	if n := len(changes) - mostChanges; n > 0 {
		changes, more = changes[n:], true
	}
	return &body[changesDoc]{changesDoc{changes, more}}, nil
}

// findings are the verdicts of diagnoses, also of those that found nothing wrong.
func (s *Server) findings(ctx context.Context, source, target string, from, to time.Time) (changes []changeDoc, more bool, err error) {
	exactly := archive.Key{Source: source, Target: target}.Exactly()
	query := archive.ResultQuery{Source: exactly.Source, Target: exactly.Target, Kind: control.KindDiagnosis, From: from, To: to}
	changes = []changeDoc{}
	more, err = s.search(ctx, query, mostChanges, func(r *measure.Result) {
		verdict, _ := r.Parameters["verdict"].(string)
		change := changeDoc{At: r.Started, Kind: "finding", Severity: "info", Result: r.ID,
			Text: fmt.Sprintf("%s to %s: %s", r.Source.Name, r.Target.Name, cmp.Or(knowledge.TitleOf(verdict), verdict))}
		if i := slices.IndexFunc(r.Samples.Findings, func(f measure.Finding) bool { return f.ID == verdict }); i >= 0 {
			change.Severity = string(r.Samples.Findings[i].Severity)
			if r.Samples.Findings[i].Way == measure.Reverse {
				change.Text += ", on the way back"
			}
		}
		if control.Unasked(r) != "" {
			change.Text += ", made by the controller itself"
		}
		changes = append(changes, change)
	})
	return changes, more, err
}

// configurations are versions of the mesh file that took another's place. Whose they are, and what they say of them, is for
// administrators, as the file is.
func configurations(versions []edit.Version, whole bool) (changes []changeDoc) {
	for _, v := range versions {
		change := changeDoc{At: v.At, Kind: "configuration", Severity: "info", Text: "another configuration of the mesh"}
		if whole {
			change.By = v.By
			if v.Comment != "" {
				change.Text += ": " + v.Comment
			}
		}
		changes = append(changes, change)
	}
	return changes
}

package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// mostDiagnosed is how many diagnoses are looked at, the newest.
const mostDiagnosed = 300

// diagnosed are what diagnoses found, newest first.
func (s *Server) diagnosed(ctx context.Context, now time.Time) (all []foundDoc, err error) {
	query := archive.ResultQuery{Kind: control.KindDiagnosis, From: now.Add(-control.DiagnosedWithin)}
	_, err = s.search(ctx, query, mostDiagnosed, func(r *measure.Result) { all = append(all, foundIn(r)) })
	return all, err
}

// foundIn is what a diagnosis found: the finding that is its verdict. Where there is none it is what came through.
func foundIn(r *measure.Result) foundDoc {
	verdict, _ := r.Parameters["verdict"].(string)
	doc := foundDoc{Result: r.ID, At: r.Started, Source: r.Source.Name, Target: r.Target.Name, Verdict: verdict,
		Title: cmp.Or(knowledge.TitleOf(verdict), verdict), Severity: string(measure.Info), Trouble: control.Unasked(r)}
	doc.Unasked = doc.Trouble != ""
	of := verdict
	switch verdict {
	case diagnose.Healthy:
		doc.Cause, of = cameThrough(r), "path-full"
	case diagnose.Unknown:
		doc.Cause = cameThrough(r)
	}
	if i := slices.IndexFunc(r.Samples.Findings, func(f measure.Finding) bool { return f.ID == of }); i >= 0 {
		f := &r.Samples.Findings[i]
		doc.Severity, doc.Title = string(f.Severity), cmp.Or(knowledge.TitleOf(f.ID), verdict)
		if doc.Cause == "" { // else it says how much, and the title what
			doc.Cause = f.Explanation
		}
		if achieved, moved := r.Get(measure.Achieved); moved && f.Predicted != nil {
			doc.Achieved, doc.Expected = &achieved, &f.Predicted.BitsPerSecond
		}
		if len(f.Advice) > 0 {
			doc.Host, doc.Command, doc.Cure = f.Advice[0].Host, f.Advice[0].Command, f.Advice[0].Why
		}
	}
	return doc
}

// unaskedOf tells how many there may be of those that nobody asks for.
func unaskedOf(b *control.UnaskedBudget) unaskedDoc {
	doc := unaskedDoc{Hourly: b.Hourly, Made: b.Made}
	if !b.Next.IsZero() {
		next := b.Next.UTC()
		doc.Next = &next
	}
	return doc
}

// begunOf is the diagnosis of a trouble that nobody asked for and that is under way; nil: there is none.
func begunOf(t *analysis.Trouble, b *control.UnaskedBudget) *begunDoc {
	i := slices.IndexFunc(b.UnderWay, func(u control.UnaskedBegins) bool { return u.Trouble == control.TroubleName(t) })
	if i < 0 {
		return nil
	}
	return &begunDoc{b.UnderWay[i].Began.UTC(), b.UnderWay[i].Source, b.UnderWay[i].Target}
}

// cameThrough is what a transfer got of what the path carries.
func cameThrough(r *measure.Result) string {
	got, moved := r.Get(measure.Achieved)
	expected, known := r.Get(measure.Expected)
	switch {
	case !moved:
		return ""
	case !known:
		return quantity.FormatRate(got) + " came through."
	}
	return quantity.FormatRate(got) + " came through of " + quantity.FormatRate(expected) + " that the path carries."
}

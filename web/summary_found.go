package web

import (
	"cmp"
	"context"
	"slices"
	"time"

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
	doc := foundDoc{Result: r.ID, At: r.Started, Source: r.Source.Name, Target: r.Target.Name, Verdict: verdict, Title: verdict,
		Severity: string(measure.Info), Unasked: control.Unasked(r) != ""}
	of := verdict
	switch verdict {
	case diagnose.Healthy:
		doc.Title, doc.Cause, of = "The path carries what it can", cameThrough(r), "path-full"
	case diagnose.Unknown:
		doc.Title, doc.Cause = "It cannot be said whether the path is slow", cameThrough(r)
	}
	if i := slices.IndexFunc(r.Samples.Findings, func(f measure.Finding) bool { return f.ID == of }); i >= 0 {
		f := &r.Samples.Findings[i]
		doc.Severity, doc.Cause, doc.Title = string(f.Severity), f.Explanation, cmp.Or(knowledge.OfFinding(f.ID).Title, verdict)
		if len(f.Advice) > 0 {
			doc.Host, doc.Command, doc.Cure = f.Advice[0].Host, f.Advice[0].Command, f.Advice[0].Why
		}
	}
	return doc
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

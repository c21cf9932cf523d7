package control

import (
	"context"
	"strings"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// KindDiagnosis is the kind, and the tool, of the Result that a diagnosis is filed as.
const KindDiagnosis = "diagnosis"

// file puts a diagnosis into the archive and returns the ID of its Result; "" if it could not be filed.
func (d *diagnosis) file(ctx context.Context, found *diagnose.Diagnosis) string {
	r := d.result(found)
	if err := d.config.Archive.Put(ctx, []*measure.Result{r}); err != nil {
		d.attempt("file diagnosis", err)
		return ""
	}
	d.watchers.tell(Event{Result: r})
	d.attempt("show diagnosis", d.config.Observe([]*measure.Result{r}))
	return r.ID
}

// result is a diagnosis as a Result.
func (d *diagnosis) result(found *diagnose.Diagnosis) *measure.Result {
	r := measure.NewResult(KindDiagnosis, d.began)
	r.ID, r.Tool, r.Role = d.id, KindDiagnosis, measure.RoleDemand
	r.Source.Name, r.Target.Name = d.request.Source, d.request.Target
	r.DurationSeconds = d.config.Now().Sub(d.began).Seconds()
	ids := []string{}
	for _, part := range found.Results {
		ids = append(ids, part.ID)
		if part.Source.Address != "" && part.Target.Address != "" {
			r.Source.Address, r.Target.Address = part.Source.Address, part.Target.Address
		}
	}
	r.Parameters["verdict"], r.Parameters["results"] = found.Verdict, ids
	if s := found.Segments; s != nil {
		r.Note("segments: " + s.Says)
	}
	if found.AchievedBitsPerSecond > 0 {
		r.Metrics[measure.Achieved] = found.AchievedBitsPerSecond
	}
	if expected := found.ExpectedBitsPerSecond; expected != nil {
		r.Metrics[measure.Expected] = *expected
	}
	r.Notes = append(r.Notes, found.Notes...)
	r.Samples.Findings = found.Findings
	if without := d.without(); without != "" {
		r.Status, r.Error = measure.StatusPartial, &without
	}
	return r
}

// without says which steps failed; "" if none did.
func (d *diagnosis) without() string {
	if len(d.failed) == 0 {
		return ""
	}
	return "not all was measured: " + strings.Join(d.failed, "; ")
}

// bare is a Result without its samples, which may be megabytes and are in the archive.
func bare(r *measure.Result) *measure.Result {
	copied := *r
	copied.Samples = measure.Samples{}
	return &copied
}

// withoutSamples is a diagnosis whose Results have none.
func withoutSamples(d *diagnose.Diagnosis) *diagnose.Diagnosis {
	copied := *d
	copied.Results = allBare(d.Results)
	if d.Segments != nil {
		parts := *d.Segments
		parts.Results = allBare(parts.Results)
		copied.Segments = &parts
	}
	return &copied
}

// allBare are Results without their samples.
func allBare(results []*measure.Result) []*measure.Result {
	all := make([]*measure.Result, len(results))
	for i, r := range results {
		all[i] = bare(r)
	}
	return all
}

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
	if found.AchievedBitsPerSecond > 0 {
		r.Metrics[measure.Achieved] = found.AchievedBitsPerSecond
	}
	if expected := found.ExpectedBitsPerSecond; expected != nil {
		r.Metrics[measure.Expected] = *expected
	}
	r.Notes = append(r.Notes, found.Notes...)
	r.Samples.Findings = found.Findings
	if len(d.failed) > 0 {
		text := "not all was measured: " + strings.Join(d.failed, "; ")
		r.Status, r.Error = measure.StatusPartial, &text
	}
	return r
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
	copied.Results = make([]*measure.Result, len(d.Results))
	for i, r := range d.Results {
		copied.Results[i] = bare(r)
	}
	return &copied
}

package control

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
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
	for _, part := range found.Results {
		if part.Source.Address != "" && part.Target.Address != "" {
			r.Source.Address, r.Target.Address = part.Source.Address, part.Target.Address
		}
	}
	r.Parameters["verdict"], r.Parameters["results"] = found.Verdict, resultIDs(found.Results)
	if d.request.trouble != "" {
		r.Parameters[parameterTrouble] = d.request.trouble
	}
	if s := found.Segments; s != nil {
		r.Parameters["segments"] = filedParts{*s, resultIDs(s.Results)}
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

// filedParts are the parts of a path in the Result of a diagnosis: with the IDs of what was measured over them.
type filedParts struct {
	diagnose.Parts
	Results []string `json:"results"`
}

// mostSegments is how many bytes the parts of a path may take in a Result: nine of them, and the IDs of a hundred Results, are a tenth of it.
const mostSegments = 128 << 10

// FiledSegments are the parts of a path that the Result of a diagnosis has, without Results, and the IDs of those. nil: it has none, or
// none that can be read.
func FiledSegments(r *measure.Result) (parts *diagnose.Parts, ids []string) {
	text, err := json.Marshal(r.Parameters["segments"])
	var filed *filedParts
	if err != nil || document.JSON(text, mostSegments, &filed) != nil || filed == nil {
		return nil, nil
	}
	return &filed.Parts, filed.Results
}

func resultIDs(results []*measure.Result) []string {
	ids := []string{}
	for _, r := range results {
		if r.ID != "" { // of a transfer that could not begin nothing was filed
			ids = append(ids, r.ID)
		}
	}
	return ids
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

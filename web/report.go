package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/report"
)

type reportInput struct {
	ID          string        `path:"id" doc:"The ULID of a diagnosis" example:"01KAG0000000000000000000AA"`
	Format      report.Format `query:"format" enum:"html,md,json" default:"html" doc:"A page with drawings and all samples, Markdown without them, or JSON"`
	Mask        bool          `query:"mask" doc:"Put others in place of addresses and of names of hosts"`
	Observed    string        `query:"observed" maxLength:"2000" doc:"What is unsatisfactory, in the words of whoever reports it"`
	Expected    string        `query:"expected" maxLength:"2000" doc:"What it should be, or once was"`
	Since       string        `query:"since" maxLength:"200" doc:"When it began"`
	Application string        `query:"application" maxLength:"2000" doc:"Which program is slow, its version, protocol and ports"`
}

// reportTypes are the media types of the formats.
var reportTypes = map[report.Format]string{
	report.HTML: "text/html; charset=utf-8", report.Markdown: "text/markdown; charset=utf-8", report.JSON: "application/json",
}

// report writes the problem report of a diagnosis that was filed, as a file to be kept: a browser runs nothing of it.
func (s *Server) report(ctx context.Context, in *reportInput) (*huma.StreamResponse, error) {
	filed, err := s.Archive.Result(ctx, in.ID)
	if err != nil {
		return nil, fault(err)
	}
	if filed.Kind != control.KindDiagnosis {
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("a Result of kind %s: want one of a diagnosis", filed.Kind))
	}
	d, err := s.diagnosisOf(ctx, filed)
	if err != nil {
		return nil, fault(err)
	}
	told := report.Told{Observed: in.Observed, Expected: in.Expected, Since: in.Since, Application: in.Application}
	p := report.New(d, told, nil, s.Version, time.Now())
	if in.Mask {
		if p, err = p.Mask(); err != nil {
			return nil, fault(err)
		}
	}
	answer, err := s.whole(reportTypes[in.Format], func(w io.Writer) error { return p.Write(w, in.Format) })
	if err != nil {
		return nil, err
	}
	write := answer.Body
	answer.Body = func(ctx huma.Context) {
		ctx.SetHeader("Content-Disposition", fmt.Sprintf(`attachment; filename="pathwise-%s.%s"`, filed.ID, in.Format))
		write(ctx)
	}
	return answer, nil
}

// mostParts is how many Results of a diagnosis, and of the parts of its path, a report has at the most: it takes a dozen steps, and as many over
// each of up to nine parts, and what is filed may say anything.
const mostParts = 100

// diagnosisOf is a diagnosis as it was filed: with its findings of then, and those of its Results that are still kept.
func (s *Server) diagnosisOf(ctx context.Context, filed *measure.Result) (*diagnose.Diagnosis, error) {
	d := &diagnose.Diagnosis{Schema: diagnose.Schema, Findings: filed.Samples.Findings, Notes: filed.Notes}
	d.Verdict, _ = filed.Parameters["verdict"].(string)
	d.AchievedBitsPerSecond, _ = filed.Get(measure.Achieved)
	if expected, known := filed.Get(measure.Expected); known {
		d.ExpectedBitsPerSecond = &expected
	}
	ids := []string{}
	listed, _ := filed.Parameters["results"].([]any)
	for _, id := range listed {
		name, _ := id.(string)
		ids = append(ids, name)
	}
	var err error
	if d.Results, err = s.kept(ctx, ids, d); err != nil {
		return nil, err
	}
	if d.Segments, ids = control.FiledSegments(filed); d.Segments != nil {
		d.Segments.Results, err = s.kept(ctx, ids, d)
	}
	return d, err
}

// kept are those of some Results that are still kept. Of the others a diagnosis has a note.
func (s *Server) kept(ctx context.Context, ids []string, d *diagnose.Diagnosis) (all []*measure.Result, err error) {
	for _, id := range ids[:min(len(ids), mostParts)] {
		r, err := s.Archive.Result(ctx, id)
		switch {
		case errors.Is(err, archive.ErrUnknown):
			d.Notes = append(d.Notes, fmt.Sprintf("Result %q is no longer kept", id))
		case err != nil:
			return nil, err
		default:
			all = append(all, r)
		}
	}
	return all, nil
}

package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/export"
	"github.com/pathwise-net/pathwise/measure"
)

type resultsInput struct {
	Which
	Span
	OfSubject
	Kind   string `query:"kind" doc:"Kinds of probe, as a pattern"`
	Role   string `query:"role" doc:"Why it was measured, as a pattern: planned, demand, diagnosis/STEP; for whatever reason, where none is given"`
	Status string `query:"status" enum:"ok,partial,failed"`
	Cursor string `query:"cursor" doc:"next of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Results a page"`
	Format string `query:"format" enum:"json,jsonl,csv" default:"json" doc:"jsonl and csv give all pages in one answer"`
	Wide   bool   `query:"wide" doc:"Of csv: a row a Result and a column a metric, instead of a row a value"`
}

// pages says what an operation answers that gives one list of T in three forms.
func pages[T any](a huma.API, o huma.Operation) huma.Operation {
	o = stream(o, jsonLines, "text/csv")
	schema := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	o.Responses["200"].Content["application/json"] = &huma.MediaType{Schema: schema}
	return o
}

// results lists Results: a page of JSON, or all of them as JSON lines or CSV.
func (s *Server) results(ctx context.Context, in *resultsInput) (*huma.StreamResponse, error) {
	now := time.Now()
	query := archive.ResultQuery{
		Source: in.Source, Target: in.Target, Test: in.Test, Tool: in.Tool, Kind: in.Kind, Role: in.Role, Subject: in.Subject,
		Status: measure.Status(in.Status),
		From:   in.From.At(now), To: in.To.At(now), Cursor: in.Cursor, Limit: in.Limit,
	}
	if in.Format != "json" { // what cannot be asked is said before the answer begins
		first := query
		first.Limit = 1
		if _, err := s.Archive.Results(ctx, first); err != nil {
			return nil, fault(err)
		}
	}
	switch in.Format {
	case "jsonl":
		return s.whole(jsonLines, func(w io.Writer) error { return export.JSONLines(ctx, w, s.Archive, query) })
	case "csv":
		if in.Wide {
			return s.whole("text/csv; charset=utf-8", func(w io.Writer) error { return export.WideCSV(ctx, w, s.Archive, query) })
		}
		return s.whole("text/csv; charset=utf-8", func(w io.Writer) error { return export.CSV(ctx, w, s.Archive, query) })
	}
	page, err := s.Archive.Results(ctx, query)
	if err != nil {
		return nil, fault(err)
	}
	return s.whole("application/json", func(w io.Writer) error { return json.NewEncoder(w).Encode(page) })
}

// whole answers with what write writes, of any length. An answer that began well and then cannot be finished is cut off with
// its connection, so that nobody takes the part for the whole.
func (s *Server) whole(kind string, write func(io.Writer) error) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		_, w := humago.Unwrap(ctx)
		w.Header().Set("Content-Type", kind)
		begun := &begunWriter{Writer: w}
		err := write(begun)
		switch {
		case err == nil:
		case !begun.any:
			refuse(w, s.veiled(ctx.Context(), ctx.Operation().OperationID, fault(err)))
		default:
			if s.Log != nil {
				s.Log.Warn("export broken off", "error", err)
			}
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// begunWriter knows whether anything was written.
type begunWriter struct {
	io.Writer
	any bool
}

func (b *begunWriter) Write(text []byte) (int, error) {
	b.any = b.any || len(text) > 0
	return b.Writer.Write(text)
}

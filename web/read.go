package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/export"
	"github.com/pathwise-net/pathwise/measure"
)

// health says whether the controller lives, for those who watch it.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, map[string]string{"status": "ok", "version": s.Version})
}

// Status is what `mesh status` shows.
type Status struct {
	Schema string `json:"schema"` // pathwise.status/1
	control.Overview
	Hosts   []control.Host `json:"hosts"`
	Archive archive.Stats  `json:"archive"`
	Missed  []measure.Miss `json:"missed"`           // the newest
	Unread  string         `json:"unread,omitempty"` // why Missed cannot be told: the archive does not answer
}

// shownMisses is how many misses a status names: what fits a screen beside the hosts.
const shownMisses = 20

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	q := newQuery(r)
	query := archive.MissQuery{From: q.time("from"), Limit: q.count("misses", maxPage)}
	if query.Limit == 0 {
		query.Limit = shownMisses
	}
	if q.err != nil {
		s.fail(w, q.err)
		return
	}
	status := Status{Schema: "pathwise.status/1", Overview: s.Control.Overview(), Hosts: s.Control.Hosts(), Archive: s.Archive.Stats()}
	var err error
	if status.Missed, err = s.Archive.Misses(r.Context(), query); err != nil {
		status.Missed, status.Unread = []measure.Miss{}, err.Error() // who is there is told all the same
	}
	s.reply(w, status)
}

func (s *Server) hosts(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, map[string]any{"hosts": s.Control.Hosts()})
}

func (s *Server) pairs(w http.ResponseWriter, r *http.Request) {
	pairs, err := s.Archive.Pairs(r.Context())
	if err != nil {
		s.fail(w, err)
		return
	}
	s.reply(w, map[string]any{"pairs": pairs})
}

// series answers with the distribution of one metric of a pair over a span, step by step, and with the gaps in it.
func (s *Server) series(w http.ResponseWriter, r *http.Request) {
	q := newQuery(r)
	match := archive.Key{Source: r.PathValue("source"), Target: r.PathValue("target"), Test: q.Get("test"),
		Tool: q.Get("tool"), Metric: measure.Metric(q.Get("metric"))}.Exactly()
	query := archive.SeriesQuery{Match: match, From: q.time("from"), To: q.time("to"), Step: q.duration("step"),
		Quantiles: q.quantiles("quantiles")}
	if query.To.IsZero() {
		query.To = q.now
	}
	switch {
	case q.Get("metric") == "":
		q.fail("metric", "a metric such as rtt_median_seconds")
	case query.From.IsZero() || !query.From.Before(query.To):
		q.fail("from", "a time before to")
	}
	if q.err != nil {
		s.fail(w, q.err)
		return
	}
	series, err := s.Archive.Series(r.Context(), query)
	if err != nil {
		s.fail(w, err)
		return
	}
	gaps, err := s.Archive.Gaps(r.Context(), archive.GapQuery{Match: match, From: query.From, To: query.To})
	if err != nil {
		s.fail(w, err)
		return
	}
	s.reply(w, map[string]any{"step_seconds": series.Step.Seconds(), "quantiles": query.Quantiles, "buckets": series.Buckets,
		"gaps": gaps})
}

// results lists Results: a page of JSON, or all of them as JSON lines or CSV.
func (s *Server) results(w http.ResponseWriter, r *http.Request) {
	q := newQuery(r)
	query := q.resultQuery()
	if q.err != nil {
		s.fail(w, q.err)
		return
	}
	switch format := q.Get("format"); format {
	case "", "json":
		page, err := s.Archive.Results(r.Context(), query)
		if err != nil {
			s.fail(w, err)
			return
		}
		s.reply(w, page)
	case "jsonl":
		s.stream(w, "application/x-ndjson", func(w io.Writer) error { return export.JSONLines(r.Context(), w, s.Archive, query) })
	case "csv":
		s.stream(w, "text/csv; charset=utf-8", func(w io.Writer) error { return export.CSV(r.Context(), w, s.Archive, query) })
	default:
		s.fail(w, &badQuery{"format", format, "json, jsonl or csv"})
	}
}

// stream writes an answer of any length. One that began well and then cannot be finished is cut off with its connection, so
// that nobody takes the part for the whole.
func (s *Server) stream(w http.ResponseWriter, kind string, write func(io.Writer) error) {
	w.Header().Set("Content-Type", kind)
	begun := &patient{w: w, control: http.NewResponseController(w)}
	err := write(begun)
	switch {
	case err == nil:
	case !begun.any:
		s.fail(w, err)
	default:
		if s.Log != nil {
			s.Log.Warn("export broken off", "error", err)
		}
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) result(w http.ResponseWriter, r *http.Request) {
	result, err := s.Archive.Result(r.Context(), r.PathValue("id"))
	if err != nil {
		s.fail(w, err)
		return
	}
	s.reply(w, result)
}

func (s *Server) misses(w http.ResponseWriter, r *http.Request) {
	q := newQuery(r)
	query := archive.MissQuery{Source: q.Get("source"), Target: q.Get("target"), Test: q.Get("test"), Tool: q.Get("tool"),
		From: q.time("from"), To: q.time("to"), Limit: q.count("limit", maxPage)}
	if q.err != nil {
		s.fail(w, q.err)
		return
	}
	misses, err := s.Archive.Misses(r.Context(), query)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.reply(w, map[string]any{"misses": misses})
}

// events streams what happens, as server-sent events: result, miss, host, plan.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	events, end := s.Control.Events()
	defer end()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := &patient{w: w, control: http.NewResponseController(w)}
	_ = out.control.Flush() // the client knows that it misses nothing from here on
	for {
		select {
		case <-r.Context().Done():
			return
		case e := <-events:
			text, err := json.Marshal(e)
			if err != nil {
				continue
			}
			if _, err := fmt.Fprintf(out, "event: %s\ndata: %s\n\n", e.Kind(), text); err != nil {
				return
			}
			if out.control.Flush() != nil {
				return
			}
		}
	}
}

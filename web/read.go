package web

import (
	"context"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

// body is an answer of JSON.
type body[T any] struct{ Body T }

type healthDoc struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

func (s *Server) health(context.Context, *struct{}) (*body[healthDoc], error) {
	return &body[healthDoc]{healthDoc{"ok", s.Version}}, nil
}

// Status is what `mesh status` shows.
type Status struct {
	Schema string `json:"schema"` // pathwise.status/1
	control.Overview
	Hosts   []control.Host `json:"hosts"`
	Archive archive.Stats  `json:"archive"`
	Missed  []measure.Miss `json:"missed" doc:"The newest"`
	Unread  string         `json:"unread,omitempty" doc:"Why missed cannot be told: the archive does not answer"`

	GeneratedUntil *time.Time `json:"generated_until,omitempty" doc:"When the newest Result began that was made up for a demonstration; what is older was not measured either"`
}

type statusInput struct {
	From   moment `query:"from" doc:"Since when runs were missed"`
	Misses int    `query:"misses" minimum:"1" maximum:"1000" default:"20" doc:"How many"` // by default, what fits a screen beside the hosts
}

func (s *Server) status(ctx context.Context, in *statusInput) (*body[Status], error) {
	query := archive.MissQuery{From: in.From.At(time.Now()), Limit: in.Misses}
	status := Status{Schema: "pathwise.status/1", Overview: s.Control.Overview(), Hosts: s.Control.Hosts(), Archive: s.Archive.Stats()}
	var err error
	if status.Missed, err = s.Archive.Misses(ctx, query); err != nil {
		status.Missed, status.Unread = []measure.Miss{}, err.Error() // who is there is told all the same
	} else if status.GeneratedUntil, err = s.generatedUntil(ctx); err != nil {
		status.Unread = err.Error()
	}
	if !visitorOf(ctx).may(account.Admin) {
		status.veil()
	}
	return &body[Status]{status}, nil
}

// veil leaves of errors only that there are some: they may name files and hosts of the controller's machine, or hold what stands
// in the mesh file.
func (s *Status) veil() {
	for text, instead := range map[*string]string{
		&s.Trouble:           "the mesh file as it stands is not in force; an administrator is told why",
		&s.Unfiled:           "results cannot be filed now; they wait where they are",
		&s.Unread:            "the archive does not answer",
		&s.Archive.MoveError: "values could not be moved within the archive",
	} {
		if *text != "" {
			*text = instead
		}
	}
}

type hostsDoc struct {
	Hosts []control.Host `json:"hosts"`
}

func (s *Server) hosts(context.Context, *struct{}) (*body[hostsDoc], error) {
	return &body[hostsDoc]{hostsDoc{s.Control.Hosts()}}, nil
}

type pairsDoc struct {
	Pairs []archive.Pair `json:"pairs"`
}

func (s *Server) pairs(ctx context.Context, _ *struct{}) (*body[pairsDoc], error) {
	pairs, err := s.Archive.Pairs(ctx)
	if err != nil {
		return nil, fault(err)
	}
	return &body[pairsDoc]{pairsDoc{pairs}}, nil
}

type keysDoc struct {
	Keys []archive.Key `json:"keys" doc:"By source, target, tool, test, role, subject and metric"`
	Next string        `json:"next,omitempty"`
}

type keysInput struct {
	Which
	PlannedRole
	OfSubject
	Metric string `query:"metric" doc:"Names of metrics, as a pattern"`
	Cursor string `query:"cursor" doc:"next of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Series a page"` // a pair has some dozens
}

func (s *Server) keys(ctx context.Context, in *keysInput) (*body[keysDoc], error) {
	keys, err := s.Archive.Keys(ctx, archive.Match{Source: in.Source, Target: in.Target, Test: in.Test, Tool: in.Tool, Role: in.Role,
		Subject: in.Subject, Metric: in.Metric})
	if err != nil {
		return nil, fault(err)
	}
	if in.Cursor != "" {
		last := slices.IndexFunc(keys, func(k archive.Key) bool { return cursorOf(k) == in.Cursor })
		if last < 0 {
			return nil, fault(badField("cursor", in.Cursor, "next of a page of the same query"))
		}
		keys = keys[last+1:]
	}
	doc := keysDoc{Keys: keys[:min(len(keys), in.Limit)]}
	if len(keys) > in.Limit {
		doc.Next = cursorOf(keys[in.Limit-1])
	}
	return &body[keysDoc]{doc}, nil
}

// cursorOf names a series in the order of all of them.
func cursorOf(k archive.Key) string {
	h := fnv.New64a()
	for _, part := range []string{k.Source, k.Target, k.Test, k.Tool, string(k.Role), k.Subject, string(k.Metric)} {
		_, _ = io.WriteString(h, part+"\x00") // never fails
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

type missesDoc struct {
	Misses []measure.Miss `json:"misses"`
}

type missesInput struct {
	Which
	Span
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
}

func (s *Server) misses(ctx context.Context, in *missesInput) (*body[missesDoc], error) {
	now := time.Now()
	misses, err := s.Archive.Misses(ctx, archive.MissQuery{Source: in.Source, Target: in.Target, Test: in.Test, Tool: in.Tool,
		From: in.From.At(now), To: in.To.At(now), Limit: in.Limit})
	if err != nil {
		return nil, fault(err)
	}
	return &body[missesDoc]{missesDoc{misses}}, nil
}

type resultInput struct {
	ID string `path:"id" doc:"A ULID" example:"01KAG0000000000000000000AA"`
}

func (s *Server) result(ctx context.Context, in *resultInput) (*body[*measure.Result], error) {
	result, err := s.Archive.Result(ctx, in.ID)
	if err != nil {
		return nil, fault(err)
	}
	return &body[*measure.Result]{result}, nil
}

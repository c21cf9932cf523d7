package web

import (
	"context"
	"time"

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
	query := archive.MissQuery{From: in.From.at(time.Now()), Limit: in.Misses}
	status := Status{Schema: "pathwise.status/1", Overview: s.Control.Overview(), Hosts: s.Control.Hosts(), Archive: s.Archive.Stats()}
	var err error
	if status.Missed, err = s.Archive.Misses(ctx, query); err != nil {
		status.Missed, status.Unread = []measure.Miss{}, err.Error() // who is there is told all the same
	} else if status.GeneratedUntil, err = s.generatedUntil(ctx); err != nil {
		status.Unread = err.Error()
	}
	return &body[Status]{status}, nil
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
	Keys []archive.Key `json:"keys"`
}

type keysInput struct {
	Which
	Metric string `query:"metric" doc:"Names of metrics, as a pattern"`
}

func (s *Server) keys(ctx context.Context, in *keysInput) (*body[keysDoc], error) {
	keys, err := s.Archive.Keys(ctx, archive.Match{Source: in.Source, Target: in.Target, Test: in.Test, Tool: in.Tool, Metric: in.Metric})
	if err != nil {
		return nil, fault(err)
	}
	return &body[keysDoc]{keysDoc{keys}}, nil
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
		From: in.From.at(now), To: in.To.at(now), Limit: in.Limit})
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

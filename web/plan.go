package web

import (
	"context"

	"github.com/pathwise-net/pathwise/control"
)

type planInput struct {
	Host  string `query:"host" doc:"One host's: runs of which it is source or target"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many"`
}

type planDoc struct {
	Runs []control.PlannedRun `json:"runs" doc:"That are not over, soonest first"`
}

// plan lists what hosts are to do next.
func (s *Server) plan(_ context.Context, in *planInput) (*body[planDoc], error) {
	runs, err := s.Control.Planned(in.Host, in.Limit)
	if err != nil {
		return nil, fault(err)
	}
	return &body[planDoc]{planDoc{runs}}, nil
}

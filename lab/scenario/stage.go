package scenario

import (
	"context"
	"fmt"

	"github.com/pathwise-net/pathwise/lab"
)

// Stage is a lab in which a case was played up to its diagnosis, and which still stands: see Options.After.
type Stage struct {
	Lab  *lab.Lab
	play *play
}

// Printed is what a program of the case that has ended printed on standard output, by the name that it has there; nil: there is none.
func (s *Stage) Printed(name string) []byte {
	r := s.play.programs[name]
	if r == nil {
		return nil
	}
	select {
	case <-r.ended:
		return r.out.bytes()
	default:
		return nil
	}
}

// Run runs a program on a host and returns what it printed on standard output. One that ends with another status than 0 is an error.
func (s *Stage) Run(ctx context.Context, host string, argv []string) ([]byte, error) {
	r, err := s.play.start(ctx, &Program{On: host, Run: argv}, argv)
	if err != nil {
		return nil, err
	}
	s.play.started = append(s.play.started, r)
	if _, err := r.await(ctx); err != nil {
		return nil, fmt.Errorf("run %s on %s: %w", argv[0], host, err)
	}
	return r.out.bytes(), nil
}

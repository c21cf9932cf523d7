package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
)

// followLab prints what becomes of packets, one JSON object a line, until ctx ends: of those flows whose name contains
// a text.
func (s *session) followLab(ctx context.Context, l *lab.Lab, flow string, perLink bool) error {
	lines := json.NewEncoder(s.out)
	lines.SetEscapeHTML(false) // a flow's name has a > in it
	return l.Follow(ctx, lab.FollowOptions{Links: perLink}, func(e *lab.Event) error {
		if !strings.Contains(e.Flow, flow) {
			return nil
		}
		if err := lines.Encode(e); err != nil {
			return fmt.Errorf("write event: %w", err)
		}
		return nil
	})
}

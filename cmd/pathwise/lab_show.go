package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/screen"
	"github.com/pathwise-net/pathwise/terminal"
)

func labShow(s *session, name *string) *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "show", Short: "Show the lab as it stands", Args: cobra.NoArgs,
		Long: "Show nodes, addresses and links with every change since the lab came up. --live shows on a terminal what the links\n" +
			"carry now, and has keys to change them (? lists them).",
		Example: "  pathwise lab show\n  pathwise lab show --live",
		RunE: func(c *cobra.Command, _ []string) error {
			l := &lab.Lab{Name: *name}
			if watch {
				return s.watchLab(c.Context(), l)
			}
			return s.showLab(l)
		},
	}
	c.Flags().BoolVar(&watch, "live", false, "watch the links on this terminal, and change them by keys")
	return c
}

// watchLab shows a lab on the terminal until the user leaves.
func (s *session) watchLab(ctx context.Context, l *lab.Lab) error {
	in, isFile := s.in.(*os.File)
	switch {
	case s.json:
		return badFlag("live", errors.New("goes without --json; `pathwise lab truth --json` prints what the view shows"))
	case !isFile || !terminal.Is(in) || !terminal.Is(s.out):
		return badFlag("live", errors.New("want a terminal; `pathwise lab truth` prints what the view shows"))
	}
	return screen.Show(ctx, l, in, terminal.File(s.out))
}

func (s *session) showLab(l *lab.Lab) error {
	state, err := l.State()
	if err != nil {
		return err
	}
	return s.emit(state, func(w io.Writer) {
		for _, n := range state.Nodes {
			fmt.Fprintf(w, "%-6s %-14s %s\n", n.Kind, n.Name, strings.Join(n.Addresses, " "))
		}
		for _, link := range state.Links {
			fmt.Fprintf(w, "link   %s - %s %s\n", link.Between[0], link.Between[1], linkText(link))
		}
	})
}

// linkText says what both directions do, once where they do the same.
func linkText(l lab.LinkState) string {
	forward, reverse := l.Forward.String(), l.Reverse.String()
	if forward == reverse {
		return forward
	}
	return fmt.Sprintf("forward %s reverse %s", forward, reverse)
}

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

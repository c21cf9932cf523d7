package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// readFlags are the flags of trace that hold with --read.
var readFlags = append([]string{"read", "map", "graph", "json", "quiet", "verbose"}, knownNames...)

// addRoute has trace tell what is known of the addresses on a route, and draw it, also of one that was measured before.
func addRoute(c *cobra.Command, s *session, flags *parameterFlags) {
	if flags.kind.Name != "trace" {
		return
	}
	var known knownFlags
	known.add(c)
	var draw drawFlags
	draw.add(c)
	read := c.Flags().String("read", "", "in place of HOST: the routes in this file, which --json of trace or diagnose printed")
	c.Example += "\n" + examples([]string{"trace carol --names --asn cymru", "trace carol --asn GeoLite2-ASN.mmdb --owners ripe.db.inetnum.gz",
		"trace carol --places GeoLite2-City.mmdb --map route.svg", "trace carol --multipath --graph paths.svg", "trace --read route.json --names=/etc/hosts --graph route.dot"})
	measureIt, check := c.RunE, c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("read") {
			return cobra.NoArgs(c, args)
		}
		return check(c, args)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := known.open(); err != nil {
			return err
		}
		if err := draw.check(flags.over); err != nil {
			return err
		}
		if known.given() {
			s.known = &known
		}
		s.after = func(ctx context.Context, r *measure.Result) {
			if s.known != nil {
				s.known.tell(ctx, r)
			}
			draw.write(r)
		}
		var err error
		if c.Flags().Changed("read") {
			err = s.showRoutes(c, *read, draw.drawings())
		} else {
			err = measureIt(c, args)
		}
		return firstOf([]error{err, draw.failed}, false)
	}
}

// showRoutes prints the routes of a file as if they were measured now.
func (s *session) showRoutes(c *cobra.Command, path string, drawings []routeDrawing) error {
	if f := flagBeside(c.Flags(), readFlags...); f != nil {
		return input.Errorf("--%s: not for --read, which measures nothing; leave it out", f.Name)
	}
	routes, err := readRoutes(path)
	if err != nil {
		return err
	}
	if len(routes) > 1 && len(drawings) > 0 {
		return badFlag(drawings[0].flag, fmt.Errorf("%q: it is of one route, and %s has %d; give a file with one", drawings[0].path, path, len(routes)))
	}
	for _, r := range routes {
		s.after(c.Context(), r)
	}
	if s.json && len(routes) > 1 {
		return s.emit(map[string]any{"schema": "pathwise.results/1", "results": routes}, nil)
	}
	for _, r := range routes {
		if err := s.emit(r, func(w io.Writer) { _, _ = io.WriteString(w, routeText(r)) }); err != nil {
			return err
		}
	}
	return nil
}

// routeText is a route as text, without what a terminal would take for a command: who wrote the file is not known.
func routeText(r *measure.Result) string {
	var text strings.Builder
	probe.WriteText(&text, r)
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' {
			return -1
		}
		return c
	}, text.String())
}

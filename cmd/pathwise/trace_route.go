package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab/twin"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// readFlags are the flags of trace that hold with --read.
var readFlags = []string{"read", "names", "asn", "owners", "places", "name-server", "map", "graph", "json", "quiet", "verbose"}

// addRoute has trace tell what is known of the addresses on a route, of one that was measured before, too.
func addRoute(c *cobra.Command, s *session, flags *parameterFlags) {
	if flags.kind.Name != "trace" {
		return
	}
	var known knownFlags
	known.add(c)
	read := c.Flags().String("read", "", "in place of HOST: the routes in this file, which --json of trace or diagnose printed")
	c.Example += "\n" + examples([]string{"trace carol --names --asn cymru", "trace carol --asn GeoLite2-ASN.mmdb --owners ripe.db.inetnum.gz",
		"trace --read route.json --names=/etc/hosts"})
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
		if known.given() {
			s.after = known.tell
		}
		if !c.Flags().Changed("read") {
			return measureIt(c, args)
		}
		return s.showRoutes(c, *read)
	}
}

// showRoutes prints the routes of a file as if they were measured now.
func (s *session) showRoutes(c *cobra.Command, path string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(readFlags, f.Name) && err == nil {
			err = input.Errorf("--%s: not for --read, which measures nothing; leave it out", f.Name)
		}
	})
	if err != nil {
		return err
	}
	routes, err := readRoutes(path)
	if err != nil {
		return err
	}
	for _, r := range routes {
		if s.after != nil {
			s.after(c.Context(), r)
		}
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

// readRoutes are the routes in a file of --json.
func readRoutes(path string) (routes []*measure.Result, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, badFlag("read", err)
	}
	all, err := twin.Read(path, text)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Kind == "trace" && (len(r.Samples.Hops) > 0 || r.Samples.Paths != nil) {
			routes = append(routes, r)
		}
	}
	if len(routes) == 0 {
		return nil, badFlag("read", fmt.Errorf("%s: no trace in it; give what pathwise trace HOST --json printed", path))
	}
	return routes, nil
}

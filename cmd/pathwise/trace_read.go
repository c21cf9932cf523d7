package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"github.com/pathwise-net/pathwise/lab/twin"
	"github.com/pathwise-net/pathwise/measure"
)

// readRoutes are the routes in a file of --json.
func readRoutes(path string) (routes []*measure.Result, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, badFlag("read", err)
	}
	all, err := readResults(path, text)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Kind == "trace" && (len(r.Samples.Hops) > 0 || r.Samples.Paths != nil) {
			if what := astray(r); what != "" {
				return nil, badFlag("read", fmt.Errorf("%s: %s; give what pathwise trace HOST --json printed", path, what))
			}
			routes = append(routes, r)
		}
	}
	if len(routes) == 0 {
		return nil, badFlag("read", fmt.Errorf("%s: no trace in it; give what pathwise trace HOST --json printed", path))
	}
	return routes, nil
}

// readResults are the Results in a document of --json, or in one a line, as a trace of many targets prints them.
func readResults(path string, text []byte) (all []*measure.Result, err error) {
	if all, err = twin.Read(path, text); err == nil {
		return all, nil
	}
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		results, wrong := twin.Read(path, line)
		if wrong != nil {
			return nil, err // of the file as a whole: it says more than that a line is no document
		}
		all = append(all, results...)
	}
	return all, nil
}

// mostTTL is the highest TTL of a packet (RFC 791, 3.1).
const mostTTL = 255

// astray says what of a route leads to a hop that is not there, which no trace says of itself; "": nothing.
func astray(r *measure.Result) string {
	outside := func(i, n int) bool { return i < 0 || i >= n }
	if p := r.Samples.Paths; p != nil {
		for _, l := range p.Links {
			if outside(l.From, len(p.Vertices)) || outside(l.To, len(p.Vertices)) || p.Vertices[l.From].TTL >= p.Vertices[l.To].TTL {
				return fmt.Sprintf("a link leads from vertex %d of %d to %d", l.From, len(p.Vertices), l.To)
			}
		}
	}
	routes := []*measure.RouteSample{r.Samples.Route}
	if back := r.Samples.Return; back != nil {
		routes = append(routes, &back.Route)
		for _, l := range back.Comparison.Links {
			if outside(l.Forward, len(r.Samples.Hops)+1) || outside(l.Return, len(back.Hops)+1) {
				return fmt.Sprintf("a link is of hop %d of %d there, and %d of %d back", l.Forward, len(r.Samples.Hops), l.Return, len(back.Hops))
			}
		}
	}
	if rounds := r.Samples.Rounds; rounds != nil && len(rounds.Hops) > len(r.Samples.Hops) {
		return fmt.Sprintf("rounds are of %d hops of %d", len(rounds.Hops), len(r.Samples.Hops))
	}
	for _, route := range routes {
		if route == nil {
			continue
		}
		for _, remark := range route.Remarks {
			if slices.ContainsFunc(remark.TTLs, func(ttl int) bool { return ttl < 0 || ttl > mostTTL }) {
				return fmt.Sprintf("a remark is of hops %v", remark.TTLs)
			}
		}
	}
	return ""
}

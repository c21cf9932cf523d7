package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/chart/route"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// drawFlags are the flags of trace that draw a route into a file, as long as it is one.
type drawFlags struct {
	places, graph string // files

	failed error // why a drawing could not be written
}

func (f *drawFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.places, "map", "", "draw the route into this SVG file: its hops and delays, and where they are as far as --places tells")
	c.Flags().StringVar(&f.graph, "graph", "", "draw the route, or with --multipath all paths, as a graph into this SVG file; as DOT if it ends in .dot or .gv")
}

// drawings are the flags that are set, and the functions that make their files.
func (f *drawFlags) drawings() (all []routeDrawing) {
	if f.places != "" {
		all = append(all, routeDrawing{"map", f.places, route.Map})
	}
	switch ending := strings.ToLower(filepath.Ext(f.graph)); {
	case ending == ".dot", ending == ".gv":
		all = append(all, routeDrawing{"graph", f.graph, route.DOT})
	case f.graph != "":
		all = append(all, routeDrawing{"graph", f.graph, route.Graph})
	}
	return all
}

// routeDrawing is a file to be made of a Result.
type routeDrawing struct {
	flag, path string
	draw       func(*measure.Result) []byte
}

// check refuses files that cannot be, before anything is sent, and several routes for one file.
func (f *drawFlags) check(over hostFlags) error {
	for _, d := range f.drawings() {
		folder := filepath.Dir(d.path)
		if at, err := os.Stat(folder); err != nil || !at.IsDir() {
			return badFlag(d.flag, fmt.Errorf("%q: %s is no folder; give a file in one", d.path, folder))
		}
		if at, err := os.Stat(d.path); err == nil && at.IsDir() {
			return badFlag(d.flag, fmt.Errorf("%q: it is a folder; give a file", d.path))
		}
		if over.four && over.six {
			return input.Errorf("-4 -6: --%s is of one route; give one of them", d.flag)
		}
	}
	return nil
}

// write makes the files. What goes wrong is in failed.
func (f *drawFlags) write(r *measure.Result) {
	if r.Status == measure.StatusFailed {
		return
	}
	shown := *r
	shown.Samples.Hops = probe.Straight(r.Samples.Hops, r.Samples.Route)
	for _, d := range f.drawings() {
		if err := os.WriteFile(d.path, d.draw(&shown), 0o666); err != nil && f.failed == nil {
			f.failed = fmt.Errorf("write --%s: %w", d.flag, err)
		}
	}
}

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// textFormat writes a Result for people, or for programs that read what another tool prints.
type textFormat func(io.Writer, *measure.Result)

// textFormats are those that a kind of probe has beside its own, by name.
var textFormats = map[string]map[string]textFormat{"owd": {"owping": owpingText, "owping-raw": owpingRaw, "owping-machine": owpingMachine}}

// ownFormat is the name of a kind's own.
const ownFormat = "text"

// addFormat gives a kind that has formats a flag to choose one.
func addFormat(c *cobra.Command, kind string) (chosen *string) {
	chosen = new(ownFormat)
	if textFormats[kind] != nil {
		c.Flags().StringVar(chosen, "format", ownFormat, "text; as owping prints: owping, owping-raw (its -R), owping-machine (its -M)")
	}
	return chosen
}

// formatOf is a format of a kind by its name.
func formatOf(kind, name string) (textFormat, error) {
	if name == ownFormat {
		return probe.WriteText, nil
	}
	if f := textFormats[kind][name]; f != nil {
		return f, nil
	}
	return nil, badFlag("format", fmt.Errorf("%q: give text, owping, owping-raw or owping-machine", name))
}

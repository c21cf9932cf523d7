package main

import (
	"fmt"
	"maps"
	"os"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// readFiles takes the files of a diagnosis, which are moved beside what is sent from memory. What cannot be read is said before anything is sent.
func (v *survey) readFiles(files probe.Files) error {
	if files == (probe.Files{}) {
		return nil
	}
	if v.fetch != nil || v.options.Source != nil {
		return badFlag("file", fmt.Errorf("%q: what is sent is named already; give a HOST, and no --input", files.Near))
	}
	if files.Near != "" {
		if _, err := os.Stat(files.Near); err != nil {
			return badFlag("file", err)
		}
	}
	parameters := maps.Clone(v.asked)
	parameters["reverse"] = files.Near == ""
	if _, err := probe.New(measure.Task{Kind: "throughput", Target: v.target, Parameters: parameters}, probe.Options{Files: files}); err != nil {
		return err
	}
	v.files = files
	return nil
}

// withFile adds the step that moves a file: from here, or, where only the far end has one, from there.
func (v *survey) withFile(plan []diagnose.Step) []diagnose.Step {
	switch {
	case v.files == (probe.Files{}):
		return plan
	case v.files.Near == "":
		return diagnose.WithFile(plan, measure.Reverse)
	}
	return diagnose.WithFile(plan, measure.Forward)
}

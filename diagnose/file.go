package diagnose

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// fileLasts is how long the transfer of a file lasts at the most, in seconds: disks have caches of their own, which are full after two or three.
const fileLasts = 5.0

// WithFile returns a plan in which a file is moved behind the transfer of a direction, in the same manner, so that the two can be held against each
// other. Which file it is who makes the steps knows.
func WithFile(plan []Step, direction string) []Step {
	at := find(plan, called("transfer", direction))
	if at < 0 {
		return plan
	}
	parameters := maps.Clone(plan[at].Parameters)
	delete(parameters, Narrow)
	lasts, _ := parameters["duration"].(float64)
	lasts = min(lasts, fileLasts)
	parameters["duration"] = lasts
	return slices.Insert(slices.Clone(plan), at+1, Step{Name: called("file", direction), Kind: "throughput", Parameters: parameters, File: true,
		Why: "whether a file moves as fast, or waits for a disk", Seconds: lasts + setUpTakes, Way: measure.Way(direction)})
}

// moves says whether a transfer one way is of a file or of memory.
func moves(r *measure.Result) sort {
	if r.Parameters["file"] != nil || r.Parameters["far_file"] != nil {
		return ofFile
	}
	return ofTransfer
}

// fileFailed says why a file was not moved that was to be.
func fileFailed(results []*measure.Result) (notes []string) {
	for _, r := range results {
		if sortOf(r) == ofFile && r.Error != nil {
			notes = append(notes, fmt.Sprintf("file: nothing is known of it, since it was not moved: %s", *r.Error))
		}
	}
	return notes
}

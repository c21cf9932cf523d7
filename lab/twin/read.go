package twin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
)

// maxBytes bounds a document: a diagnosis with 20 samples a second of eight streams for a minute has 10 MB.
const maxBytes = 64 << 20

// Read returns the Results in a document of --json: a Result, several of them (pathwise.results/1), or a diagnosis.
// Name is the file's, for errors, which are *document.Error.
func Read(name string, text []byte) ([]*measure.Result, error) {
	var head struct {
		Schema  string            `json:"schema"`
		Results []*measure.Result `json:"results"`
	}
	if err := document.JSON(text, maxBytes, &head); err != nil {
		return nil, &document.Error{File: name, Problem: fmt.Sprintf("not a result: %v", err)}
	}
	var results []*measure.Result
	switch {
	case measure.ReadsSchema(head.Schema):
		r := &measure.Result{}
		if err := document.JSON(text, maxBytes, r); err != nil {
			return nil, &document.Error{File: name, Problem: fmt.Sprintf("not a result: %v", err)}
		}
		results = []*measure.Result{r}
	case len(head.Results) > 0:
		results = head.Results
	}
	for _, r := range results {
		if r == nil || r.Schema != measure.ResultSchema {
			results = nil
			break
		}
		if fault := implausible(r); fault != "" {
			return nil, &document.Error{File: name, Problem: fmt.Sprintf("%s %s: %s", r.Kind, r.ID, fault)}
		}
	}
	if len(results) == 0 {
		return nil, &document.Error{File: name, Problem: fmt.Sprintf("schema %q: want %s, or a document with such results",
			head.Schema, measure.ResultSchema)}
	}
	return results, nil
}

// Bounds of what a path can be; a lab file takes no more.
const (
	longestTrip = 3600.0 // s
	fastest     = 1e13   // bit/s
	mostCount   = 1e15
	largestMTU  = 65535
)

// implausible returns what no measurement can have found. A Result may come from anywhere.
func implausible(r *measure.Result) string {
	check := func(what string, v, most float64) string {
		if v >= 0 && v <= most {
			return ""
		}
		return fmt.Sprintf("%s: %v: want 0 to %g", what, v, most)
	}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		faults = append(faults, check(string(name), r.Metrics[name], bound(string(name))))
	}
	for _, s := range r.Samples.Echoes {
		if s.RTTSeconds != nil {
			faults = append(faults, check("echo's rtt_seconds", *s.RTTSeconds, longestTrip))
		}
	}
	for _, h := range r.Samples.Hops {
		for _, v := range h.RTTSeconds {
			if v != nil {
				faults = append(faults, check("hop's rtt_seconds", *v, longestTrip))
			}
		}
	}
	for _, s := range r.Samples.TCPInfo {
		for _, name := range slices.Sorted(maps.Keys(s.Values)) {
			faults = append(faults, check("tcp_info's "+name, s.Values[name], bound(name)))
		}
	}
	for _, i := range r.Samples.Intervals {
		faults = append(faults, check("interval's bits_per_second", i.BitsPerSecond, fastest))
	}
	for _, f := range faults {
		if f != "" {
			return f
		}
	}
	return ""
}

// bound returns the largest value that a metric or parameter can have, by the unit at the end of its name.
func bound(name string) float64 {
	switch {
	case strings.HasSuffix(name, "_ratio") && !strings.HasPrefix(name, "cpu_"):
		return 1
	case strings.HasPrefix(name, "rtt_"), strings.HasPrefix(name, "min_rtt_"), strings.HasPrefix(name, "jitter_"):
		return longestTrip
	case strings.HasSuffix(name, "mtu_bytes"), strings.HasSuffix(name, "mss_bytes"):
		return largestMTU
	case strings.HasSuffix(name, "_bits_per_second"):
		return fastest
	}
	return mostCount
}

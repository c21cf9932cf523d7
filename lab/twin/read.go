package twin

import (
	"encoding/json"
	"fmt"

	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
)

// Read returns the Results in a document of --json: a Result, several of them (pathwise.results/1), or a diagnosis. Name
// is the file's, for errors, which are *notation.Error.
func Read(name string, text []byte) ([]*measure.Result, error) {
	var head struct {
		Schema  string            `json:"schema"`
		Results []*measure.Result `json:"results"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, &notation.Error{File: name, Problem: fmt.Sprintf("not a result: %v", err)}
	}
	var results []*measure.Result
	switch {
	case head.Schema == measure.ResultSchema:
		r := &measure.Result{}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, &notation.Error{File: name, Problem: fmt.Sprintf("not a result: %v", err)}
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
	}
	if len(results) == 0 {
		return nil, &notation.Error{File: name, Problem: fmt.Sprintf("schema %q: want %s, or a document with such results",
			head.Schema, measure.ResultSchema)}
	}
	return results, nil
}

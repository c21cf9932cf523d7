package measure

import (
	"encoding/json"
	"fmt"
)

// ResultSchema names the JSON layout of a Result. It changes when a reader of the old layout would misread the new.
const ResultSchema = "pathwise.result/2"

// resultSchema1 had neither way nor role, and 0 for the error of a clock of which nothing was known.
const resultSchema1 = "pathwise.result/1"

// ReadsSchema tells whether this is the schema of a Result that can be read.
func ReadsSchema(schema string) bool { return schema == ResultSchema || schema == resultSchema1 }

// UnmarshalJSON reads a Result of any schema that there has been, and makes it one of ResultSchema. A schema that is not
// known stays, for the caller to refuse.
func (r *Result) UnmarshalJSON(data []byte) error {
	type result Result // has no methods
	if err := json.Unmarshal(data, (*result)(r)); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	if !ReadsSchema(r.Schema) {
		return nil
	}
	if len(r.Distributions) > MostDistributions {
		return fmt.Errorf("read result: distributions are %d, want at most %d", len(r.Distributions), MostDistributions)
	}
	if r.Kind != "command" { // whose parameters the user named
		renameParameters(r.Parameters)
	}
	if r.Schema == ResultSchema {
		return nil
	}
	r.Schema, r.Way, r.Role = ResultSchema, WayOf(r.Kind, r.Parameters), RoleOf(r.Test)
	if !r.Clock.Synchronized {
		r.Clock.ErrorSeconds = nil
	}
	return nil
}

// formerParameters are the parameters of probes that once had other names. Builds wrote those in both schemas.
var formerParameters = map[string]string{
	"interval_seconds": "interval", "timeout_seconds": "timeout", "duration_seconds": "duration", "omit_seconds": "omit",
	"size_bytes": "size", "window_bytes": "window", "length_bytes": "length", "mss_bytes": "mss", "rate_bits_per_second": "rate",
	"max_ttl": "max-ttl", "protocol": "proto", "dont_fragment": "df",
}

// renameParameters gives former parameters their names of today.
func renameParameters(set map[string]any) {
	for old, now := range formerParameters {
		if v, there := set[old]; there {
			delete(set, old)
			set[now] = v
		}
	}
	if sampling, there := set["sampling"]; there {
		delete(set, "sampling")
		set["poisson"] = sampling == "poisson"
	}
}

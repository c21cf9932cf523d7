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
	if r.Schema != resultSchema1 {
		return nil
	}
	r.Schema, r.Way, r.Role = ResultSchema, WayOf(r.Kind, r.Parameters), RoleOf(r.Test)
	if !r.Clock.Synchronized {
		r.Clock.ErrorSeconds = nil
	}
	return nil
}

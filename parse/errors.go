package parse

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// RuleError is a Rule that cannot be.
type RuleError struct {
	Metric measure.Metric
	Field  string // of Rule, in lower case
	Value  string
	Remedy string
}

func (e *RuleError) Error() string {
	if e.Field == "metric" {
		return fmt.Sprintf("metric %q: %s", e.Value, e.Remedy)
	}
	return fmt.Sprintf("%s: %s %s: %s", e.Metric, e.Field, quote(e.Value), e.Remedy)
}

// BadInput marks the error as one of the caller's making.
func (e *RuleError) BadInput() bool { return true }

// NotFound names the metrics that an output does not hold, or holds in a form that cannot be read, and why each.
type NotFound struct {
	Metrics []measure.Metric
	Why     []string // of each
}

func (e *NotFound) add(m measure.Metric, err error) {
	e.Metrics, e.Why = append(e.Metrics, m), append(e.Why, err.Error())
}

func (e *NotFound) Error() string {
	var each []string
	for i, m := range e.Metrics {
		each = append(each, fmt.Sprintf("%s: %s", m, e.Why[i]))
	}
	return "read what the program printed: " + strings.Join(each, "; ")
}

// errNothing means that the rule matches nothing in an output.
var errNothing = errors.New("nothing found")

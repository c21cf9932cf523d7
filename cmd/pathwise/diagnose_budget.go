package main

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/quantity"
)

// readBudget reads a time, a size or both, with a comma between them; "" is no limit.
func readBudget(text string) (diagnose.Budget, error) {
	var b diagnose.Budget
	if text == "" {
		return b, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		took, timeErr := quantity.ParseDuration(part)
		size, sizeErr := quantity.ParseSize(part)
		bare := strings.Trim(part, "0123456789.") == ""
		switch {
		case bare || timeErr != nil && sizeErr != nil: // a number without a unit may be either
			return b, badFlag("budget", fmt.Errorf("%q: want a time such as 30s, a size such as 50MB, or both with a comma between them", part))
		case timeErr == nil && b.Time == 0 && took > 0:
			b.Time = took
		case timeErr != nil && b.Bytes == 0 && size > 0:
			b.Bytes = size
		default:
			return b, badFlag("budget", fmt.Errorf("%q: want one time and one size at most, above zero", text))
		}
	}
	if err := b.Validate(); err != nil {
		return b, badFlag("budget", fmt.Errorf("%q: %w", text, err))
	}
	return b, nil
}

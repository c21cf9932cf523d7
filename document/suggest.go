package document

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Meant is the hint that ends an error about a name that is not there: "; did you mean reach?", or "" if no name is near.
func Meant(written string, names []string) string {
	if name := Nearest(written, names); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}

// Nearest returns the name that was probably meant, or "" if none is near: at most half of its letters, and one at least,
// may be wrong, missing or too many, but not all.
func Nearest(written string, names []string) string {
	best, least := "", len(written)+1
	for _, name := range names {
		d := levenshtein.ComputeDistance(strings.ToLower(written), strings.ToLower(name))
		if d < least && d <= max(1, len(name)/2) && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

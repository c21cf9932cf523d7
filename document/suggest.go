package document

import (
	"slices"
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

// Nearest returns the name that was probably meant, or "" if none is near: a third of its letters, and one at least, may be wrong,
// missing or too many, or all be there in another order. With half of them, short words that have nothing in common would be near.
func Nearest(written string, names []string) string {
	written = strings.ToLower(written)
	best, least := "", len(written)+1
	for _, name := range names {
		lower := strings.ToLower(name)
		d := levenshtein.ComputeDistance(written, lower)
		near := d <= max(1, (len(name)+1)/3) || sameLetters(written, lower)
		if near && d < least && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

func sameLetters(a, b string) bool {
	return slices.Equal(slices.Sorted(slices.Values([]rune(a))), slices.Sorted(slices.Values([]rune(b))))
}

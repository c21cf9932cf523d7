package config

import "strings"

// nearest returns the name that was probably meant, or "" if none is near: at most a third of its letters, and one at
// least, may be wrong, missing, too many, or swapped with the next.
func nearest(written string, names []string) string {
	best, least := "", len(written)+1
	for _, name := range names {
		d := distance(strings.ToLower(written), strings.ToLower(name))
		if d < least && d <= max(1, len(name)/3) && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

// distance is the optimal string alignment distance of a and b, in bytes.
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// meant is the hint that ends an error about a name that is not there.
func meant(written string, names []string) string {
	if name := nearest(written, names); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}

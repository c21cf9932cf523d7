package quantity

import (
	"fmt"
	"strings"
)

// Format prints a value in SI units as people read it. Units are those that the names of metrics end in, and those of facts: "s" and
// "bit/s". A value of another unit is a number with up to six digits, and the unit; units of things that are counted are regular plurals,
// of which 1 drops the "s": "3 packets", "1 packet".
func Format(v float64, unit string) string {
	switch unit {
	case "seconds", "s":
		return FormatSeconds(v)
	case "bits_per_second", "bit/s":
		return FormatRate(v)
	case "bytes":
		return FormatSize(int64(v))
	case "ratio":
		return FormatRatio(v)
	case "count", "score":
		unit = ""
	case "bytes_per_second":
		return FormatSize(int64(v)) + "/s"
	case "packets_per_second":
		unit = "packets/s"
	}
	if v == 1 && !strings.HasSuffix(unit, "/s") {
		unit = strings.TrimSuffix(unit, "s")
	}
	return strings.TrimSpace(fmt.Sprintf("%.6g %s", v, unit))
}

// FormatCount is a number of things: "1 packet", "3 packets". Thing is one of them, of a regular plural.
func FormatCount(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

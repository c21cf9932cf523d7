package quantity

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration of zero or more: Go's syntax (12ms, 1.5s, 2m30s), or a bare number, which is seconds.
// "min" may stand for "m", and a space before a unit. The error is an *Error.
func ParseDuration(s string) (time.Duration, error) {
	bad := &Error{Value: s, Want: "a duration such as 50ms, 1.5s or 2m; a bare number is seconds"}
	text, unit := split(s)
	if text == "" {
		return 0, bad
	}
	if unit == "" {
		v, err := strconv.ParseFloat(text, 64)
		v = math.Round(v * float64(time.Second))
		if err != nil || v >= math.MaxInt64 { // the constant rounds up to 2^63, the first that does not fit
			return 0, bad
		}
		return time.Duration(v), nil
	}
	d, err := time.ParseDuration(text + strings.Replace(unit, "min", "m", 1))
	if err != nil || d < 0 {
		return 0, bad
	}
	return d, nil
}

// FormatSeconds prints a time given in seconds in the unit that suits it: "85 µs", "50.0 ms", "4.28 s", "3.4 min".
// Seconds and milliseconds have three significant digits. Below, where clocks and schedulers blur the third, there are two, or
// all of a whole number; above two minutes, one decimal.
func FormatSeconds(seconds float64) string {
	size := math.Abs(seconds)
	switch {
	case math.IsNaN(size) || size == 0:
		return strconv.FormatFloat(seconds, 'f', 0, 64) + " s"
	case size >= 7200:
		return strconv.FormatFloat(seconds/3600, 'f', 1, 64) + " h"
	case size >= 120:
		return strconv.FormatFloat(seconds/60, 'f', 1, 64) + " min"
	case exponent(size, 3) >= 0:
		return significant(seconds, 3) + " s"
	case exponent(size*1e3, 3) >= 0:
		return significant(seconds*1e3, 3) + " ms"
	case exponent(size*1e6, 3) >= 0:
		return significant(seconds*1e6, 2) + " µs"
	}
	return significant(seconds*1e9, 2) + " ns"
}

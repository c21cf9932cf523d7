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

// MaxSpan is the longest that ParseSpan reads; a time.Duration holds 292 years.
const MaxSpan = 200 * 365 * 24 * time.Hour

// longUnits are counted in days, of 24 hours; a year has 365.
var longUnits = map[string]float64{"d": 1, "w": 7, "y": 365}

// ParseSpan reads what ParseDuration does, and days, weeks and years (7d, 2w, 1.5y), up to MaxSpan. The error is an *Error.
func ParseSpan(s string) (time.Duration, error) {
	bad := &Error{Value: s, Want: "a time such as 30s, 10m, 6h, 7d or 1y"}
	text, unit := split(s)
	if days := longUnits[unit]; days > 0 {
		v, err := strconv.ParseFloat(text, 64)
		if v *= days * float64(24*time.Hour); err != nil || !(v >= 0 && v <= float64(MaxSpan)) {
			return 0, bad
		}
		return time.Duration(math.Round(v)), nil
	}
	d, err := ParseDuration(s)
	if err != nil || d > MaxSpan {
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

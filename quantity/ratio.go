package quantity

import (
	"strconv"
	"strings"
)

// ParseRatio reads a ratio from 0 to 1, written as such (0.0001) or in percent (0.01%). The error is an *Error.
func ParseRatio(s string) (float64, error) {
	bad := &Error{Value: s, Want: "a ratio from 0 to 1, or 0% to 100%, such as 0.0001 or 0.01%"}
	text, unit := split(s)
	v, err := strconv.ParseFloat(text, 64)
	switch unit {
	case "":
	case "%":
		v /= 100
	default:
		return 0, bad
	}
	if err != nil || v > 1 {
		return 0, bad
	}
	return v, nil
}

// FormatRatio prints a ratio in percent with three significant digits, or up to five where the value has them: "1.00 %",
// "0.00017388 %". Loss budgets are told apart by the fourth.
func FormatRatio(ratio float64) string {
	long, short := significant(ratio*100, 5), significant(ratio*100, 3)
	for len(long) > len(short) && strings.HasSuffix(long, "0") {
		long = long[:len(long)-1]
	}
	return strings.TrimSuffix(long, ".") + " %"
}

package quantity

import (
	"math"
	"strconv"
	"strings"
)

// ParseRate reads a rate in bit/s: a positive number, then optionally k, M, G, T (powers of ten), then optionally "bit" and
// "/s", in any case: 100mbit, 1.5Gbit/s, 56k, 1000000. It refuses "bps", which some tools take for bits and others, tc
// among them, for bytes. The error is an *Error.
func ParseRate(s string) (float64, error) {
	bad := &Error{Value: s, Want: "a positive rate such as 100mbit or 1.5gbit"}
	text, unit := split(s)
	thousands, rest := prefix(unit)
	switch strings.TrimSpace(rest) {
	case "", "bit", "bits", "bit/s", "bits/s":
	default:
		return 0, bad
	}
	v, err := strconv.ParseFloat(text, 64)
	v *= math.Pow10(3 * thousands)
	if err != nil || v <= 0 || math.IsInf(v, 0) {
		return 0, bad
	}
	return v, nil
}

// FormatRate prints a rate in bit/s with three significant digits: "94.1 Mbit/s".
func FormatRate(bitsPerSecond float64) string {
	return scaled(bitsPerSecond, 1000, []string{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"})
}

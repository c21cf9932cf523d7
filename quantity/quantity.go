// Package quantity turns the quantities that people write into numbers in SI base units, and back: rates in bit/s,
// sizes in bytes, durations, ratios; and the names of differentiated services code points.
//
// Rates are powers of ten (1 kbit/s is 1000 bit/s). Sizes may be either, because the tools in this field disagree; each
// function says what it takes. What a Format function prints, the Parse function of the same name reads. The package
// knows nothing of flags or files: whoever calls it adds the name of the field to an Error.
package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Error says that a text is not the quantity that was wanted.
type Error struct {
	Value string // the text as given
	Want  string // what would be right, with an example
}

func (e *Error) Error() string { return fmt.Sprintf("%q: want %s", e.Value, e.Want) }

// BadInput marks the error as the caller's, not the program's.
func (e *Error) BadInput() bool { return true }

// split cuts s into a plain decimal number and the unit after it, in lower case and without space around it. The number
// is empty where s does not start with one; signs, "inf", "nan", hexadecimal and underscores are not numbers here.
func split(s string) (number, unit string) {
	s = strings.TrimSpace(s)
	end := digits(s, 0)
	if end < len(s) && s[end] == '.' {
		end = digits(s, end+1)
	}
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') { // an exponent, unless it is the E of "1EB"
		start := end + 1
		if start < len(s) && (s[start] == '+' || s[start] == '-') {
			start++
		}
		if stop := digits(s, start); stop > start {
			end = stop
		}
	}
	return s[:end], strings.ToLower(strings.TrimSpace(s[end:]))
}

// digits returns where the run of digits that starts at from ends.
func digits(s string, from int) int {
	for from < len(s) && '0' <= s[from] && s[from] <= '9' {
		from++
	}
	return from
}

// prefix returns the exponent of the SI prefix that unit starts with, as a count of thousands, and what follows it.
func prefix(unit string) (thousands int, rest string) {
	if unit == "" {
		return 0, ""
	}
	if i := strings.IndexByte("kmgtpe", unit[0]); i >= 0 {
		return i + 1, unit[1:]
	}
	return 0, unit
}

// maxDecimals keeps absurdly small values from printing a page of zeros; they print as zero.
const maxDecimals = 24

// significant prints v with that many significant digits, and with all the digits before the decimal point.
func significant(v float64, figures int) string {
	decimals := min(max(0, figures-1-exponent(v, figures)), maxDecimals)
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// exponent is the power of ten of the first digit of v, once rounded to that many significant digits.
func exponent(v float64, figures int) int {
	_, e, found := strings.Cut(strconv.FormatFloat(v, 'e', figures-1, 64), "e")
	if !found { // infinite or not a number
		return 0
	}
	exp, _ := strconv.Atoi(e) // what FormatFloat wrote is a number
	return exp
}

// scaled prints v with three significant digits, which is more than a live path reproduces, in the smallest of the
// units, each step times the one before, that keeps it under step.
func scaled(v, step float64, units []string) string {
	const figures = 3
	text := significant(v, figures)
	for _, unit := range units[:len(units)-1] {
		shown, err := strconv.ParseFloat(text, 64) // as shown, so that 999.6 is not printed as 1000
		if err != nil || max(shown, -shown) < step {
			return text + " " + unit
		}
		v /= step
		text = significant(v, figures)
	}
	return text + " " + units[len(units)-1]
}

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

// FormatKnownRate prints a rate in bit/s, or "-" for 0, which is none.
func FormatKnownRate(bitsPerSecond float64) string {
	if bitsPerSecond == 0 {
		return "-"
	}
	return FormatRate(bitsPerSecond)
}

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

// ParseSize reads a size in bytes, in any case: a number alone or with B is bytes; kB, MB, GB, TB, PB, EB are powers of
// 1000; KiB, MiB, ... are powers of 1024, and so are the bare K, M, G, ..., as iperf3 takes them. A fraction is rounded to
// whole bytes. Sizes that do not fit an int64 are refused. The error is an *Error.
func ParseSize(s string) (int64, error) {
	bad := &Error{Value: s, Want: "a size in bytes such as 1448, 64K (65536), 4MiB or 50MB"}
	text, unit := split(s)
	thousands, rest := prefix(unit)
	var scale float64
	switch rest {
	case "b":
		scale = math.Pow(1000, float64(thousands))
	case "", "ib":
		if rest == "ib" && thousands == 0 {
			return 0, bad
		}
		scale = math.Pow(1024, float64(thousands))
	default:
		return 0, bad
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil { // exact also where a float64 is not
		if whole > math.MaxInt64/int64(scale) {
			return 0, bad
		}
		return whole * int64(scale), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	v = math.Round(v * scale)
	if err != nil || v >= math.MaxInt64 { // the constant rounds up to 2^63, the first that does not fit
		return 0, bad
	}
	return int64(v), nil
}

// FormatSize prints a size in bytes with three significant digits, in powers of 1000: "50.0 MB".
func FormatSize(bytes int64) string {
	if -1000 < bytes && bytes < 1000 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	return scaled(float64(bytes), 1000, []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"})
}

// FormatBinarySize prints a size in bytes with three significant digits, in powers of 1024: "64.0 KiB".
func FormatBinarySize(bytes int64) string {
	if -1024 < bytes && bytes < 1024 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	return scaled(float64(bytes), 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"})
}

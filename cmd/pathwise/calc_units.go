package main

import (
	"math"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// The kinds of input. All but inputExtra refuse zero, which no formula here has a use for.
var (
	inputRate      = calcKind{"_bits_per_second", quantity.ParseRate, showRate}
	inputTime      = calcKind{"_seconds", aboveZero(parseSeconds, "a duration above zero such as 50ms"), showSeconds}
	inputSize      = calcKind{"_bytes", aboveZero(parseBytes, "a size above zero such as 1448 or 4MiB"), showBytes}
	inputExtra     = calcKind{"_bytes", parseBytes, showBytes}
	inputRatio     = calcKind{"_ratio", aboveZero(quantity.ParseRatio, "a ratio above zero such as 0.0001 or 0.01%"), quantity.FormatRatio}
	inputCount     = calcKind{"_packets", parseCount, grouped}
	inputIPVersion = calcKind{"_version", parseIPVersion, grouped}
	inputPlain     = calcKind{"", parsePlain, func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }}
)

// aboveZero makes a parser that takes zero refuse it.
func aboveZero(parse func(string) (float64, error), want string) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := parse(s)
		if err == nil && v == 0 {
			err = &quantity.Error{Value: s, Want: want}
		}
		return v, err
	}
}

func parseSeconds(s string) (float64, error) {
	d, err := quantity.ParseDuration(s)
	return d.Seconds(), err
}

func parseBytes(s string) (float64, error) {
	n, err := quantity.ParseSize(s)
	return float64(n), err
}

func parseCount(s string) (float64, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == 0 {
		return 0, &quantity.Error{Value: s, Want: "a whole number above zero such as 10"}
	}
	return float64(n), nil
}

func parseIPVersion(s string) (float64, error) {
	if s != "4" && s != "6" {
		return 0, &quantity.Error{Value: s, Want: "4 or 6"}
	}
	return parsePlain(s)
}

func parsePlain(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, &quantity.Error{Value: s, Want: "a number above zero such as 0.7"}
	}
	return v, nil
}

// showRate and showSeconds print an input as results are printed, but with all its digits where that would drop some.
func showRate(v float64) string {
	short := quantity.FormatRate(v)
	if back, err := quantity.ParseRate(short); err != nil || back != v {
		return strconv.FormatFloat(v/1e6, 'g', 12, 64) + " Mbit/s"
	}
	return short
}

func showSeconds(v float64) string {
	short := quantity.FormatSeconds(v)
	if back, err := parseSeconds(short); err == nil && back == v {
		return short
	}
	if v < 1 {
		return strconv.FormatFloat(v*1e3, 'g', 12, 64) + " ms"
	}
	return strconv.FormatFloat(v, 'g', 12, 64) + " s"
}

func showBytes(v float64) string { return grouped(v) + " B" }

// bytesOut, rateOut and secondsOut print a result: in full, and rounded beside it where that is easier to read.
func bytesOut(v float64) string {
	if v < 1024 || v >= math.MaxInt64 {
		return showBytes(v)
	}
	return showBytes(v) + " (" + quantity.FormatBinarySize(int64(math.Round(v))) + ")"
}

func rateOut(v float64) string {
	if v < 1000 {
		return quantity.FormatRate(v)
	}
	return grouped(v) + " bit/s (" + quantity.FormatRate(v) + ")"
}

func secondsOut(d time.Duration) string {
	short := quantity.FormatSeconds(d.Seconds())
	if d < 2*time.Minute {
		return short
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s (" + short + ")"
}

// percentOut prints a ratio with six digits, as link shares are compared.
func percentOut(ratio float64) string { return strconv.FormatFloat(100*ratio, 'g', 6, 64) + " %" }

// grouped prints v, which is not negative, rounded to a whole number with its digits in groups of three.
func grouped(v float64) string {
	if v >= 1e18 { // no longer a number to read digit by digit
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	digits := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

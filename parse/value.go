package parse

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// number is a decimal number: thousands may be set off by commas, since programs are run in the C locale.
var number = regexp.MustCompile(`^[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?`)

// splitNumber cuts a text into the number that it begins with, "" if it does not, and the rest without space around it.
func splitNumber(s string) (digits, rest string) {
	digits = number.FindString(s)
	return digits, strings.TrimSpace(s[len(digits):])
}

// value turns what was found into the metric's own unit.
func (r *compiled) value(text, unit string) (float64, error) {
	digits, rest := splitNumber(strings.TrimSpace(text))
	if digits == "" {
		return 0, fmt.Errorf("%s finds %s, which is no number", r.finder, quote(text))
	}
	unit = cmp.Or(unit, rest)
	if r.Unit != "" {
		unit = r.Unit
	}
	v, err := convert(r.Metric, digits, unit, r.Binary)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.finder, err)
	}
	if bare := unit == "" && r.Scale == 0; bare && r.Metric.Unit() == "ratio" && v > 1 {
		return 0, fmt.Errorf("%s finds %s, which is no ratio of 0 to 1; give its unit, such as %%", r.finder, digits)
	}
	if r.Scale != 0 {
		v *= r.Scale
	}
	return v, nil
}

// convert reads a number and its unit as a metric, in the unit that the metric's name ends in. Without a unit the number
// is in that unit already. Space, parentheses and dots around a unit do not count.
//
// Where tools disagree, this holds: "b" is bits and "B" bytes, also in Mbps and MBps. Prefixes are powers of 1000,
// except Ki, Mi and so on, those of "Bytes" written out with a capital B, as iperf and iperf3 do, and a bare K, M, G of
// a size; these are of 1024. A program that means otherwise needs a Rule with Binary or Unit.
func convert(m measure.Metric, digits, unit string, binary bool) (float64, error) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil {
		return 0, fmt.Errorf("%s is no number that can be stored", quote(digits))
	}
	f, err := factor(m.Unit(), unit, binary)
	if err != nil {
		return 0, err
	}
	if v *= f; math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is too large", quote(digits))
	}
	return v, nil
}

// quote shows a text in an error, cut where it goes on for long.
func quote(s string) string {
	const most = 60 // letters: one line of an error
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

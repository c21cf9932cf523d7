package probe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// sweepSort is a parameter that can be swept.
type sweepSort struct {
	name      string
	parameter string                         // of the kind, which a run of a point has set; "": spacing, which is none
	unit      string                         // of its values, as metrics' names end in one; "": they are words
	example   string                         // what its values are
	parse     func(text string) (any, error) // a number in the unit, or a word
	text      func(v float64) string         // of numbers
}

// sweepSorts are all that can be swept.
var sweepSorts = []sweepSort{
	{name: "window", parameter: "window", unit: "bytes", example: "a size such as 64K", parse: sizeValue, text: sizeText},
	{name: "len", parameter: "length", unit: "bytes", example: "a size such as 1448", parse: sizeValue, text: func(v float64) string { return fmt.Sprintf("%.0f B", v) }},
	{name: "spacing", unit: "seconds", example: "a time from 1us to 1s", parse: spacingValue, text: quantity.FormatSeconds},
	{name: "streams", parameter: "parallel", unit: "count", example: "a number", parse: countValue, text: func(v float64) string { return fmt.Sprintf("%.0f", v) }},
	{name: "rate", parameter: "rate", unit: "bits_per_second", example: "a rate such as 20mbit", parse: rateValue, text: quantity.FormatRate},
	{name: "cc", parameter: "cc", example: "a word such as cubic", parse: wordValue},
	{name: "dscp", parameter: "dscp", example: "one of " + dscpValues, parse: dscpValue},
}

// sweepAxis is a parameter with the values that it takes.
type sweepAxis struct {
	sweepSort
	values []any
}

// mostSweepPoints are so many that each still gets a run of a second or two within an hour.
const mostSweepPoints = 256

// sweepWanted says what the text of a sweep can be.
const sweepWanted = "give one or two of window, len, spacing, streams, rate, cc and dscp, such as window=64k..8M, which doubles, or cc=reno,cubic"

// parseSweep is readSweep for who has no other use of what would be right.
func parseSweep(text string) ([]sweepAxis, error) {
	axes, want := readSweep(text)
	if want != "" {
		return nil, &input.Error{Field: "sweep", Value: text, Remedy: want}
	}
	return axes, nil
}

// readSweep reads one axis or two, with a space between them; want is what would be right, or "" if it is.
func readSweep(text string) (axes []sweepAxis, want string) {
	points := 1
	for _, part := range strings.Fields(text) {
		name, list, ok := strings.Cut(part, "=")
		at := slices.IndexFunc(sweepSorts, func(s sweepSort) bool { return s.name == name })
		if !ok || at < 0 {
			return nil, sweepWanted
		}
		axis := sweepAxis{sweepSort: sweepSorts[at]}
		if slices.ContainsFunc(axes, func(a sweepAxis) bool { return a.name == name }) {
			return nil, "give " + name + " once"
		}
		if axis.values, want = axis.read(list); want != "" {
			return nil, want
		}
		axes = append(axes, axis)
		points *= len(axis.values)
	}
	switch {
	case len(axes) == 0 || len(axes) > 2:
		return nil, sweepWanted
	case points > mostSweepPoints:
		return nil, fmt.Sprintf("give at most %d points; these are %d", mostSweepPoints, points)
	}
	return axes, ""
}

// read reads a range or a list of values, of which no two are alike; want is what would be right, or "" if it is.
func (s sweepSort) read(text string) (values []any, want string) {
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		for one := range strings.SplitSeq(text, ",") {
			v, want := s.value(one)
			if want != "" {
				return nil, want
			}
			if slices.Contains(values, v) {
				return nil, fmt.Sprintf("give %s once in %s", one, s.name)
			}
			values = append(values, v)
		}
		return values, ""
	}
	if s.unit == "" {
		return nil, fmt.Sprintf("give %s words with commas between them, not a range", s.name)
	}
	from, want := s.value(low)
	if want != "" {
		return nil, want
	}
	to, want := s.value(high)
	if want != "" {
		return nil, want
	}
	if from.(float64) >= to.(float64) {
		return nil, "give the smaller end of " + s.name + " first"
	}
	for _, v := range doubling(from.(float64), to.(float64)) {
		values = append(values, v)
	}
	return values, ""
}

// value reads one value, which the parameter has to take, too.
func (s sweepSort) value(text string) (v any, want string) {
	v, err := s.parse(text)
	if want = "give a value that " + s.name + " can have in place of " + strconv.Quote(text); err != nil {
		return nil, want + ": " + s.example
	}
	if wants := s.set(&Throughput{}, v); wants != "" {
		return nil, want + ": " + strings.TrimPrefix(wants, "give ")
	}
	return v, ""
}

// set gives a test a value, and returns what would be right, or "" if the value is.
func (s sweepSort) set(p *Throughput, v any) (want string) {
	f, known := throughputField(s.parameter)
	if !known { // spacing, of which the rate is made once the length is known
		return ""
	}
	return f.set(p, v)
}

// fixed says whether a test has a value of its own for what is swept.
func (s sweepSort) fixed(p *Throughput) bool {
	f, known := throughputField(s.parameter)
	return known && f.get(p) != nil
}

// format is a value as people read it.
func (s sweepSort) format(v any) string {
	if number, is := v.(float64); is && s.text != nil {
		return s.text(number)
	}
	return fmt.Sprint(v)
}

// throughputField is the parameter of that name; false: there is none.
func throughputField(name string) (field[Throughput], bool) {
	for _, f := range throughputFields() {
		if f.Name == name {
			return f, true
		}
	}
	return field[Throughput]{}, false
}

// doubling are values from one to another, each twice the one before; the last may be less.
func doubling(from, to float64) (all []float64) {
	for v := from; v < to && len(all) <= mostSweepPoints; v *= 2 {
		all = append(all, v)
	}
	return append(all, to)
}

// errValue says that a value cannot be; what would be right says its sort.
var errValue = errors.New("no such value")

func sizeValue(text string) (any, error) {
	n, err := quantity.ParseSize(text)
	return float64(n), err
}

func spacingValue(text string) (any, error) {
	d, err := quantity.ParseDuration(text)
	if err == nil && (d < time.Microsecond || d > time.Second) {
		err = errValue
	}
	return d.Seconds(), err
}

func rateValue(text string) (any, error) {
	r, err := quantity.ParseRate(text)
	return r, err
}

func countValue(text string) (any, error) {
	n, is := number(text)
	if !is {
		return nil, errValue
	}
	return n, nil
}

func wordValue(text string) (any, error) {
	if text == "" {
		return nil, errValue
	}
	return text, nil
}

func dscpValue(text string) (any, error) {
	_, err := quantity.ParseDSCP(text)
	return text, err
}

// sizeText is a size in powers of 1024 where it is a multiple of 1024, as windows are given.
func sizeText(v float64) string {
	if n := int64(v); n%1024 == 0 {
		return quantity.FormatBinarySize(n)
	}
	return quantity.FormatSize(int64(v))
}

// sweepValues are the values of each point, in the order of the axes; the second changes fastest.
func sweepValues(axes []sweepAxis) (points [][]any) {
	points = [][]any{nil}
	for _, a := range axes {
		var more [][]any
		for _, p := range points {
			for _, v := range a.values {
				more = append(more, append(slices.Clone(p), v))
			}
		}
		points = more
	}
	return points
}

// sweepParameters are the axes as a Result has them.
func sweepParameters(axes []sweepAxis) (all []measure.SweepParameter) {
	for _, a := range axes {
		all = append(all, measure.SweepParameter{Name: a.name, Unit: a.unit})
	}
	return all
}

package calc

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// Input is one value that a formula asks for. Without a default it must be given, unless it is optional: then it is 0 in the
// working.
type Input struct {
	Name     string   `json:"name"`
	Kind     Kind     `json:"kind"`
	Usage    string   `json:"usage"`
	Default  string   `json:"default"`
	Optional bool     `json:"optional"`
	Choices  []string `json:"choices,omitempty" doc:"Of a choice"`

	zero bool   // 0 has a meaning
	unit string // that its name ends in as a number; empty: that of its kind
}

// Kind is how an input is written.
type Kind string

const (
	Rate   Kind = "rate"   // 100mbit
	Time   Kind = "time"   // 50ms
	Size   Kind = "size"   // 4MiB
	Ratio  Kind = "ratio"  // 0.01%
	Length Kind = "length" // 1200km
	Count  Kind = "count"  // of packets, unless its unit says otherwise; whole
	Number Kind = "number" // above zero
	Choice Kind = "choice" // of a version
)

// number is the name of an input once it is a number: it ends in its unit.
func (i Input) number() string {
	unit := i.unit
	if unit == "" {
		unit = map[Kind]string{Rate: "_bits_per_second", Time: "_seconds", Size: "_bytes", Ratio: "_ratio", Count: "_packets",
			Length: "_meters", Choice: "_version"}[i.Kind]
	}
	return strings.ReplaceAll(i.Name, "-", "_") + unit
}

// values holds inputs in SI units, and as text to put into formulas.
type values struct {
	value map[string]float64
	text  map[string]string
}

func (in values) duration(name string) time.Duration { return model.Seconds(in.value[name]) }

// read reads the inputs of a formula.
func (f Formula) read(given map[string]string) (values, error) {
	in := values{map[string]float64{}, map[string]string{}}
	var names []string
	for _, i := range f.Inputs {
		names = append(names, i.Name)
		text, there := given[i.Name]
		if !there {
			text = i.Default
		}
		if text == "" && i.Optional {
			continue
		}
		v, err := i.parse(text)
		if err != nil {
			return in, &InputError{[]string{i.Name}, err}
		}
		in.value[i.Name], in.text[i.Name] = v, i.show(v)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return in, &InputError{[]string{name}, errors.New("no such input; want one of " + strings.Join(names, ", "))}
		}
	}
	return in, nil
}

// parse reads an input. All but an input that says otherwise refuse zero, which no formula here has a use for.
func (i Input) parse(s string) (float64, error) {
	switch i.Kind {
	case Rate:
		return quantity.ParseRate(s)
	case Time:
		d, err := quantity.ParseDuration(s)
		return i.aboveZero(s, d.Seconds(), err, "a duration above zero such as 50ms")
	case Size:
		n, err := quantity.ParseSize(s)
		return i.aboveZero(s, float64(n), err, "a size above zero such as 1448 or 4MiB")
	case Ratio:
		r, err := quantity.ParseRatio(s)
		return i.aboveZero(s, r, err, "a ratio above zero such as 0.0001 or 0.01%")
	case Length:
		return quantity.ParseDistance(s)
	case Count:
		n, err := strconv.ParseUint(s, 10, 31)
		if err != nil || n == 0 {
			return 0, &quantity.Error{Value: s, Want: "a whole number above zero such as 10"}
		}
		return float64(n), nil
	case Choice:
		if !slices.Contains(i.Choices, s) {
			return 0, &quantity.Error{Value: s, Want: strings.Join(i.Choices, " or ")}
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, &quantity.Error{Value: s, Want: "a number above zero such as 0.7"}
	}
	return v, nil
}

func (i Input) aboveZero(s string, v float64, err error, want string) (float64, error) {
	if err == nil && v == 0 && !i.zero {
		err = &quantity.Error{Value: s, Want: want}
	}
	return v, err
}

// show prints an input to put into a formula: as results are printed, but with all its digits where that would drop some.
func (i Input) show(v float64) string {
	switch i.Kind {
	case Rate:
		short := quantity.FormatRate(v)
		if back, err := quantity.ParseRate(short); err != nil || back != v {
			return strconv.FormatFloat(v/1e6, 'g', 12, 64) + " Mbit/s"
		}
		return short
	case Time:
		short := quantity.FormatSeconds(v)
		if back, err := quantity.ParseDuration(short); err == nil && back.Seconds() == v {
			return short
		}
		if v < 1 {
			return strconv.FormatFloat(v*1e3, 'g', 12, 64) + " ms"
		}
		return strconv.FormatFloat(v, 'g', 12, 64) + " s"
	case Size:
		return showBytes(v)
	case Ratio:
		if v < 1e-8 { // as a share in percent it would be zeros
			return strconv.FormatFloat(v, 'g', 6, 64)
		}
		return quantity.FormatRatio(v)
	case Length:
		return quantity.FormatDistance(v)
	case Number:
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return grouped(v)
}

// missing says that of several inputs one is needed.
func missing(inputs ...string) error {
	return &InputError{inputs, fmt.Errorf("all are missing; want one, such as a %s of 100mbit", inputs[0])}
}

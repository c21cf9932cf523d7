package scenario

import (
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/quantity"
)

// Bound is what a value is held against: a number, alone or with a unit ("9mbit", "40ms", "250kB", "1%"), or a text. As a
// number it is in the units of Pathwise's documents: bit/s, seconds, bytes, and ratios from 0 to 1.
type Bound struct {
	text     string
	number   float64
	isNumber bool
	unit     unit
}

type unit int

const (
	noUnit unit = iota
	inBits
	inSeconds
	inBytes
	inRatio
)

// UnmarshalYAML reads one value.
func (b *Bound) UnmarshalYAML(node ast.Node) error {
	return document.One(node, b, func(text string) (Bound, error) { return parseBound(text), nil })
}

// parseBound goes by the end of the text, so that no text has two readings; what is no number is a text.
func parseBound(text string) Bound {
	b := Bound{text: text}
	var err error
	if b.number, err = strconv.ParseFloat(text, 64); err == nil {
		b.isNumber = !math.IsNaN(b.number) && !math.IsInf(b.number, 0)
		return b
	}
	switch {
	case strings.HasSuffix(text, "%"):
		b.unit = inRatio
		b.number, err = quantity.ParseRatio(text)
		if err != nil { // above 100 %, as growth may be
			b.number, err = strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
			b.number /= 100
		}
	case strings.Contains(text, "bit"):
		b.unit = inBits
		b.number, err = quantity.ParseRate(text)
	case strings.HasSuffix(text, "B"):
		b.unit = inBytes
		var size int64
		size, err = quantity.ParseSize(text)
		b.number = float64(size)
	default:
		b.unit = inSeconds
		d, parseErr := quantity.ParseDuration(text)
		b.number, err = d.Seconds(), parseErr
	}
	b.isNumber = err == nil
	if !b.isNumber {
		b.unit = noUnit
	}
	return b
}

// format prints a value in the unit of a bound.
func (u unit) format(v float64) string {
	switch u {
	case inBits:
		return quantity.FormatRate(v)
	case inSeconds:
		return quantity.FormatSeconds(v)
	case inBytes:
		return quantity.FormatSize(int64(v))
	case inRatio:
		return strconv.FormatFloat(v*100, 'g', 3, 64) + " %"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

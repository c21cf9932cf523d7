// Package notation reads the values of a lab file, which have units. It knows no key of the file; those belong to the packages that act
// on them.
package notation

import (
	"fmt"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/quantity"
)

// MaxBytes bounds a lab, case or link file: 60 hosts take 10 kB, and a trace of rates may stand in a file of its own.
const MaxBytes = 1 << 20

// Unmarshal reads a document of at most MaxBytes strictly. Errors are *document.Error, with line and column where there is a place.
func Unmarshal(text []byte, into any) error { return document.StrictYAML(text, MaxBytes, into) }

// Locate is document.Locate for such a document.
func Locate(text []byte, err error) error { return document.Locate(text, MaxBytes, err) }

// The values of a lab file: Rate in bit/s, Delay and Span in Go's duration (a Delay holds packets back, and is at most
// MaxDelay; a Span is any stretch of time), Ratio from 0 to 1, Size in bytes. Each reads what
// package quantity reads ("100mbit", "12ms", "0.1%", "250kB") and prints, by String, what it would read again. Count is a
// number of things; the decoder by itself would take 1.5 for 1.
type (
	Rate  float64
	Delay time.Duration
	Span  time.Duration
	Ratio float64
	Size  int64
	Count int
)

// MaxDelay bounds every time in a lab file that holds a packet back: far more than any path on Earth, and safe in
// nanoseconds.
const MaxDelay = time.Hour

func (d Delay) String() string { return time.Duration(d).String() }
func (s Span) String() string  { return time.Duration(s).String() }
func (s Size) String() string  { return strconv.FormatInt(int64(s), 10) + "B" }

// String prints "100mbit", "1.544mbit", "9600bit": the largest unit that leaves at least 1, and every digit.
func (r Rate) String() string {
	unit, scale := "bit", 1.0
	for _, u := range []struct {
		name  string
		scale float64
	}{{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}} {
		if float64(r) >= u.scale && float64(r)/u.scale*u.scale == float64(r) {
			unit, scale = u.name, u.scale
		}
	}
	return strconv.FormatFloat(float64(r)/scale, 'f', -1, 64) + unit
}

// String prints a percentage where that reads back to the same ratio, such as "0.1%", and the ratio otherwise.
func (r Ratio) String() string {
	text := strconv.FormatFloat(float64(r)*100, 'g', 12, 64)
	if back, err := quantity.ParseRatio(text + "%"); err == nil && back == float64(r) {
		return text + "%"
	}
	return strconv.FormatFloat(float64(r), 'f', -1, 64)
}

func (r *Rate) UnmarshalYAML(node ast.Node) error {
	return document.One(node, (*float64)(r), quantity.ParseRate)
}

func (d *Delay) UnmarshalYAML(node ast.Node) error {
	return document.One(node, (*time.Duration)(d), func(text string) (time.Duration, error) {
		v, err := quantity.ParseDuration(text)
		if err == nil && v > MaxDelay {
			return 0, fmt.Errorf("%q: want at most 1h", text)
		}
		return v, err
	})
}

func (s *Span) UnmarshalYAML(node ast.Node) error {
	return document.One(node, (*time.Duration)(s), quantity.ParseDuration)
}

func (r *Ratio) UnmarshalYAML(node ast.Node) error {
	return document.One(node, (*float64)(r), quantity.ParseRatio)
}

func (s *Size) UnmarshalYAML(node ast.Node) error {
	return document.One(node, (*int64)(s), quantity.ParseSize)
}

func (c *Count) UnmarshalYAML(node ast.Node) error {
	return document.One(node, (*int)(c), func(text string) (int, error) {
		v, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%q: want a whole number such as 5", text)
		}
		return v, nil
	})
}

package web

import (
	"math"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// listed is a list as JSON, of which put appends each element.
func listed[T any](all []T, put func(text []byte, v T) []byte) []byte {
	text := append(make([]byte, 0, 2+8*len(all)), '[')
	for i, v := range all {
		if i > 0 {
			text = append(text, ',')
		}
		text = put(text, v)
	}
	return append(text, ']')
}

// numbers is a list that JSON has with four significant digits, which is all that a drawing shows; NaN, which JSON has not, is null.
type numbers []float64

// MarshalJSON writes a list with four digits each, and null for NaN.
func (n numbers) MarshalJSON() ([]byte, error) {
	return listed(n, func(text []byte, v float64) []byte {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(text, "null"...)
		}
		return strconv.AppendFloat(text, v, 'g', 4, 64)
	}), nil
}

// Schema says that the list has numbers and nulls.
func (numbers) Schema(r huma.Registry) *huma.Schema {
	number := r.Schema(reflect.TypeFor[*float64](), false, "")
	number.Nullable = true
	return &huma.Schema{Type: huma.TypeArray, Items: number}
}

// classes is a list of classes of pairs, each a number of one digit.
type classes []uint8

// MarshalJSON writes a list of numbers, where encoding/json writes bytes as base64.
func (c classes) MarshalJSON() ([]byte, error) {
	return listed(c, func(text []byte, v uint8) []byte { return strconv.AppendUint(text, uint64(v), 10) }), nil
}

// Schema says that the list has whole numbers.
func (classes) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: r.Schema(reflect.TypeFor[int](), false, "")}
}

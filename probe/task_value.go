package probe

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// A binding ties a parameter to a field of T. Values are what JSON or YAML hold. set reads one, and returns what would be right,
// or "" if the value is. get returns it in SI units, as a Result records it, or nil where nothing is set.
type binding[T any] struct {
	Type   string
	set    func(into *T, v any) (want string)
	get    func(of *T) any
	Values []string // all that it can be, where it is one of a few words
}

// unlessZero returns what is recorded for a parameter; nil, so that nothing is, where its value v is zero.
func unlessZero[V comparable](v V, recorded any) any {
	var zero V
	if v == zero {
		return nil
	}
	return recorded
}

// whole is a whole number from low to high.
func whole[T any, N int | int64](at func(*T) *N, low, high int) binding[T] {
	return binding[T]{Type: "whole number", set: func(into *T, v any) string {
		n, ok := number(v)
		if !ok || n != math.Trunc(n) || n < float64(low) || n > float64(high) {
			return fmt.Sprintf("give a whole number from %d to %d", low, high)
		}
		*at(into) = N(n)
		return ""
	}, get: func(of *T) any { return unlessZero(*at(of), any(float64(*at(of)))) }}
}

// dscpMeaning is that of the parameter which codePoint ties.
const dscpMeaning = "differentiated services code point, by number or name, such as 46 or ef"

// codePoint is a differentiated services code point (RFC 2474), by number or name. A Result records the number.
func codePoint[T any](at func(*T) *int) binding[T] {
	return binding[T]{Type: "code point", set: func(into *T, v any) string {
		dscp, err := quantity.ParseDSCP(plainText(v))
		if err != nil {
			return "give one of " + dscpValues
		}
		*at(into) = dscp
		return ""
	}, get: func(of *T) any { return unlessZero(*at(of), any(float64(*at(of)))) }}
}

// dscpValues says what a mark can be.
const dscpValues = "0 to 63, ef, va, af11 to af43, cs0 to cs7, le and be"

// span is a time above zero: a number is of seconds.
func span[T any](at func(*T) *time.Duration) binding[T] {
	return binding[T]{Type: "time", set: func(into *T, v any) string {
		d, err := quantity.ParseDuration(plainText(v))
		if err != nil || d <= 0 {
			return "give a time such as 200ms or 10s; a bare number is seconds"
		}
		*at(into) = d
		return ""
	}, get: func(of *T) any { return unlessZero(*at(of), any(at(of).Seconds())) }}
}

// mostRate is beyond any interface, and fits what iperf3's protocol carries.
const mostRate = 1e15

// rate is a rate above zero: a number is of bit/s.
func rate[T any](at func(*T) *int64) binding[T] {
	return binding[T]{Type: "rate", set: func(into *T, v any) string {
		r, err := quantity.ParseRate(plainText(v))
		if err != nil || r < 1 || r > mostRate {
			return "give a rate such as 20mbit; a bare number is bit/s"
		}
		*at(into) = int64(r)
		return ""
	}, get: func(of *T) any { return unlessZero(*at(of), any(float64(*at(of)))) }}
}

// share is a ratio above zero: "5%" and 0.05 are the same.
func share[T any](at func(*T) *float64) binding[T] {
	return binding[T]{Type: "ratio", set: func(into *T, v any) string {
		r, err := quantity.ParseRatio(plainText(v))
		if err != nil || r <= 0 {
			return "give a ratio above 0, such as 0.05 or 5%"
		}
		*at(into) = r
		return ""
	}, get: func(of *T) any { return unlessZero(*at(of), any(*at(of))) }}
}

// size is a size above zero: a number is of bytes.
func size[T any, N int | int64](at func(*T) *N) binding[T] {
	return binding[T]{Type: "size", set: func(into *T, v any) string {
		n, err := quantity.ParseSize(plainText(v))
		if err != nil || n <= 0 || int64(N(n)) != n {
			return "give a size such as 1448, 256K or 4MiB; a bare number is bytes"
		}
		*at(into) = N(n)
		return ""
	}, get: func(of *T) any { return unlessZero(*at(of), any(float64(*at(of)))) }}
}

func yesOrNo[T any](at func(*T) *bool) binding[T] {
	return binding[T]{Type: "yes or no", set: func(into *T, v any) string {
		b, ok := v.(bool)
		if text, is := v.(string); is {
			var err error
			b, err = strconv.ParseBool(text)
			ok = err == nil
		}
		if !ok {
			return "give true or false"
		}
		*at(into) = b
		return ""
	}, get: func(of *T) any { return *at(of) }}
}

// ifYes is a choice that a Result records only where it was made.
func ifYes[T any](at func(*T) *bool) binding[T] {
	b := yesOrNo(at)
	b.get = func(of *T) any { return unlessZero(*at(of), any(true)) }
	return b
}

// word is a text, one of allowed if any are given.
func word[T any](at func(*T) *string, allowed ...string) binding[T] {
	return binding[T]{Type: "text", set: func(into *T, v any) string {
		s, ok := v.(string)
		switch {
		case len(allowed) > 0 && !slices.Contains(allowed, s):
			return "give " + oneOf(allowed)
		case !ok || s == "":
			return "give a text"
		}
		*at(into) = s
		return ""
	}, get: func(of *T) any { return unlessZero(*at(of), any(*at(of))) }, Values: allowed}
}

// only is a text that must fit; want says what would be right.
func only[T any](b binding[T], fits func(string) bool, want string) binding[T] {
	set := b.set
	b.set = func(into *T, v any) string {
		if text, _ := v.(string); !fits(text) {
			return want
		}
		return set(into, v)
	}
	return b
}

// oneOf lists what may be chosen: "icmp, tcp or syn".
func oneOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// decoded is a list or mapping, read as JSON; want says what would be right.
func decoded[T, V any](kind, want string, at func(*T) *V) binding[T] {
	return binding[T]{Type: kind, set: func(into *T, v any) string {
		data, err := json.Marshal(v)
		if err == nil {
			decoder := json.NewDecoder(strings.NewReader(string(data)))
			decoder.DisallowUnknownFields()
			err = decoder.Decode(at(into))
		}
		if err != nil {
			return want
		}
		return ""
	}, get: func(*T) any { return nil }} // a program's Result has its arguments as they were filled in
}

// number reads what JSON and YAML decoders make of a number, and a text of one.
func number(v any) (float64, bool) {
	n, err := strconv.ParseFloat(plainText(v), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// plainText is a value as a person would write it: without the exponent that fmt gives to 1e+07, and "" if it is none.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int, int64, uint64, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

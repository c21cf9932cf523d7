package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/stat"
)

// errNoValue is that the document has nothing there.
var errNoValue = errors.New("no such value")

// in follows the path into a document, as encoding/json decodes it into an any.
func (p path) in(document any) (any, error) {
	at := document
	for i, one := range p {
		next, err := step(at, one.key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p[:i+1], err)
		}
		if one.filter != nil {
			list, ok := next.([]any)
			if !ok {
				return nil, fmt.Errorf("%s: is no list: %w", p[:i+1], errNoValue)
			}
			next = chosen(list, one.filter)
		}
		at = next
	}
	return at, nil
}

func step(at any, key string) (any, error) {
	switch v := at.(type) {
	case map[string]any:
		if next, ok := v[key]; ok {
			return next, nil
		}
		return nil, fmt.Errorf("%w; there is %s", errNoValue, strings.Join(slices.Sorted(maps.Keys(v)), ", "))
	case []any:
		return listStep(v, key)
	}
	return nil, errNoValue
}

// listStep is a place in a list, something said of all of it, or a key of each that has it.
func listStep(list []any, key string) (any, error) {
	if i, err := strconv.Atoi(key); err == nil {
		if i < 0 || i >= len(list) {
			return nil, fmt.Errorf("%w in a list of %d", errNoValue, len(list))
		}
		return list[i], nil
	}
	switch key {
	case "count":
		return float64(len(list)), nil
	case "min", "max", "mean", "median", "sum", "first", "last":
		return summary(list, key)
	}
	each := []any{}
	for _, element := range list {
		if next, err := step(element, key); err == nil {
			each = append(each, next)
		}
	}
	if len(each) == 0 && len(list) > 0 {
		return nil, fmt.Errorf("%w: %s is in none of the list", errNoValue, key)
	}
	return each, nil
}

func summary(list []any, of string) (any, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("%w in an empty list", errNoValue)
	}
	switch of {
	case "first":
		return list[0], nil
	case "last":
		return list[len(list)-1], nil
	}
	var numbers []float64
	sum := 0.0
	for _, element := range list {
		if v, ok := element.(float64); ok {
			numbers = append(numbers, v)
			sum += v
		}
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("%w: no numbers in the list", errNoValue)
	}
	slices.Sort(numbers)
	switch of {
	case "min":
		return numbers[0], nil
	case "max":
		return numbers[len(numbers)-1], nil
	case "median":
		return stat.Median(numbers), nil
	case "sum":
		return sum, nil
	}
	return sum / float64(len(numbers)), nil
}

// chosen returns the elements whose keys have the values that the filter names.
func chosen(list []any, filter map[string]string) []any {
	all := []any{}
	for _, element := range list {
		object, ok := element.(map[string]any)
		fits := ok
		for key, want := range filter {
			fits = fits && fmt.Sprint(object[key]) == want
		}
		if fits {
			all = append(all, element)
		}
	}
	return all
}

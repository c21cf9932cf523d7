package lab

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/quantity"
)

// maxSpecBytes bounds a lab file: 60 hosts take 10 kB.
const maxSpecBytes = 1 << 20

// ParseSpec reads a lab file. Name is used in errors, which are *SpecError with line and column; keys that Pathwise
// does not know are errors. The Spec that comes back is valid.
func ParseSpec(name string, text []byte) (*Spec, error) {
	if len(text) > maxSpecBytes {
		return nil, &SpecError{File: name, Problem: fmt.Sprintf("%d bytes; want at most %d", len(text), maxSpecBytes)}
	}
	var spec Spec
	if err := decodeSpec(text, &spec); err != nil {
		return nil, specErrorFrom(name, err)
	}
	if err := spec.Validate(); err != nil {
		var bad *SpecError
		errors.As(err, &bad)
		bad.File = name
		return nil, bad
	}
	return &spec, nil
}

// decodeSpec decodes strictly. The decoder panics on some malformed input (found by fuzzing; the input is kept under
// testdata), so its panics are errors here.
func decodeSpec(text []byte, spec *Spec) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not a YAML file that can be read: %v", r)
		}
	}()
	return yaml.UnmarshalWithOptions(text, spec, yaml.Strict())
}

// specErrorFrom keeps one line of the YAML decoder's complaint, and its place.
func specErrorFrom(name string, err error) error {
	var own *SpecError
	if errors.As(err, &own) {
		own.File = name
		return own
	}
	bad := &SpecError{File: name, Problem: strings.SplitN(err.Error(), "\n", 2)[0]}
	var located yaml.Error
	if errors.As(err, &located) {
		bad.Problem = located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			bad.Line, bad.Column = t.Position.Line, t.Position.Column
		}
	}
	return bad
}

// scalar returns the text of a YAML scalar, and reports a fault at its place.
func scalar(node ast.Node) (text string, fault func(error) error) {
	token := node.GetToken()
	fault = func(err error) error {
		return &SpecError{Line: token.Position.Line, Column: token.Position.Column, Problem: err.Error()}
	}
	if s, ok := node.(*ast.StringNode); ok {
		return s.Value, fault
	}
	return token.Value, fault
}

func (r *Rate) UnmarshalYAML(node ast.Node) error {
	text, fault := scalar(node)
	v, err := quantity.ParseRate(text)
	if err != nil {
		return fault(fmt.Errorf("rate: %w", err))
	}
	*r = Rate(v)
	return nil
}

func (d *Delay) UnmarshalYAML(node ast.Node) error {
	text, fault := scalar(node)
	v, err := parseDelay(text)
	if err != nil {
		return fault(err)
	}
	*d = Delay(v)
	return nil
}

// maxDelay bounds what a link may hold back: far more than any path on Earth, and safe in nanoseconds.
const maxDelay = time.Hour

func parseDelay(text string) (time.Duration, error) {
	v, err := quantity.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("delay: %w", err)
	}
	if v > maxDelay {
		return 0, fmt.Errorf("delay: %q: want at most 1h", text)
	}
	return v, nil
}

func (l *Ratio) UnmarshalYAML(node ast.Node) error {
	text, fault := scalar(node)
	v, err := quantity.ParseRatio(text)
	if err != nil {
		return fault(fmt.Errorf("loss: %w", err))
	}
	*l = Ratio(v)
	return nil
}

func (q *Queue) UnmarshalYAML(node ast.Node) error {
	text, fault := scalar(node)
	v, err := parseQueue(text)
	if err != nil {
		return fault(err)
	}
	*q = v
	return nil
}

// parseQueue reads "500p" as packets and everything else as a size in bytes.
func parseQueue(text string) (Queue, error) {
	if digits, ok := strings.CutSuffix(text, "p"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > 1<<24 {
			return Queue{}, fmt.Errorf("queue: %q: want 1p to 16777216p, or a size such as 250kB", text)
		}
		return Queue{Packets: n}, nil
	}
	n, err := quantity.ParseSize(text)
	if err != nil || n < 1 {
		return Queue{}, fmt.Errorf("queue: %q: want packets such as 500p, or a size such as 250kB", text)
	}
	return Queue{Bytes: n}, nil
}

// ParseSetting reads one change of a link, "KEY=VALUE" or "forward.KEY=VALUE" with the keys of Shape, into the shapes
// for the two directions. Errors are *SpecError.
func ParseSetting(setting string) (forward, reverse Shape, err error) {
	key, value, ok := strings.Cut(setting, "=")
	if !ok {
		return forward, reverse, specErrorf("%q: want KEY=VALUE, such as loss=1%%", setting)
	}
	way, name, both := "", key, true
	if before, after, dotted := strings.Cut(key, "."); dotted {
		way, name, both = before, after, false
	}
	shape, err := parseField(name, value)
	if err != nil {
		return forward, reverse, specErrorf("%v", err)
	}
	switch {
	case both:
		return shape, shape, nil
	case way == "forward":
		return shape, Shape{}, nil
	case way == "reverse":
		return Shape{}, shape, nil
	}
	return forward, reverse, specErrorf("%q: want forward.%s or reverse.%s", key, name, name)
}

func parseField(name, value string) (shape Shape, err error) {
	switch name {
	case "rate":
		v, err := quantity.ParseRate(value)
		if err != nil {
			return shape, fmt.Errorf("rate: %w", err)
		}
		shape.Rate = (*Rate)(&v)
	case "delay":
		v, err := parseDelay(value)
		if err != nil {
			return shape, err
		}
		shape.Delay = (*Delay)(&v)
	case "loss":
		v, err := quantity.ParseRatio(value)
		if err != nil {
			return shape, fmt.Errorf("loss: %w", err)
		}
		shape.Loss = (*Ratio)(&v)
	case "queue":
		v, err := parseQueue(value)
		if err != nil {
			return shape, err
		}
		shape.Queue = &v
	default:
		return shape, fmt.Errorf("%q: want rate, delay, loss or queue", name)
	}
	return shape, nil
}

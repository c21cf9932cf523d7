package middlebox

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
)

// Keys are a Config as it is written, not validated.
type Keys Config

// UnmarshalYAML reads the mapping that stands behind a router's name. What it returns is valid.
func (c *Config) UnmarshalYAML(node ast.Node) error {
	*c = Config{}
	if err := document.Decode(node, (*Keys)(c)); err != nil {
		return err
	}
	return document.AtKey(node, c.Validate())
}

// Options are the names of TCP options, or of groups of them; in a lab file one or a list.
type Options []Option

// Option is the name of a TCP option.
type Option string

// UnmarshalYAML reads "sack" or [wscale, sack].
func (o *Options) UnmarshalYAML(node ast.Node) error {
	if text, plain := document.Scalar(node); plain {
		*o = Options{Option(text)}
	} else if err := document.Decode(node, (*[]Option)(o)); err != nil {
		return err
	}
	return document.At(node, o.validate())
}

func (o *Options) validate() error {
	for _, name := range *o {
		if err := oneOf("strip", name, optionNames...); err != nil || name == "" {
			return document.Errorf("strip: %q: want %s", name, either(optionNames))
		}
	}
	return nil
}

// UnmarshalYAML reads pass, filtered, or the mapping of a limit.
func (i *ICMP) UnmarshalYAML(node ast.Node) error {
	*i = ICMP{}
	text, plain := document.Scalar(node)
	if !plain {
		type mapping ICMP // without this method
		if err := document.Decode(node, (*mapping)(i)); err != nil {
			return err
		}
		return document.AtKey(node, i.validate())
	}
	switch text {
	case "pass":
	case "filtered":
		i.Filtered = true
	default:
		return document.At(node, fmt.Errorf("%q: want pass, filtered or {rate: 10/s}", text))
	}
	return nil
}

// Number is a whole number of zero or more. The decoder by itself would cut 1.5 down to 1.
type Number int

// UnmarshalYAML reads digits.
func (n *Number) UnmarshalYAML(node ast.Node) error {
	text, _ := document.Scalar(node)
	v, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return document.At(node, fmt.Errorf("%q: want a whole number", text))
	}
	*n = Number(v)
	return nil
}

// UnmarshalYAML reads 10 or 10/s, 30/min, 100/h.
func (r *PerSecond) UnmarshalYAML(node ast.Node) error { return document.One(node, r, parsePerSecond) }

// UnmarshalYAML reads a code point for all packets, or a mapping from code points to code points.
func (r *Remark) UnmarshalYAML(node ast.Node) error {
	*r = Remark{}
	if text, plain := document.Scalar(node); plain {
		return r.set(node, otherwise, text)
	}
	keyed, ok := node.(ast.MapNode)
	if !ok {
		return document.At(node, fmt.Errorf("want a DSCP, or a mapping such as {EF: 0, %s: CS1}", otherwise))
	}
	for entries := keyed.MapRange(); entries.Next(); {
		key, _ := document.Scalar(entries.Key())
		value, plain := document.Scalar(entries.Value())
		if !plain {
			return document.At(entries.Value(), fmt.Errorf("want a DSCP"))
		}
		if err := r.set(entries.Value(), key, value); err != nil {
			return err
		}
	}
	return nil
}

// set adds one rule, as it is written.
func (r *Remark) set(node ast.Node, key, value string) error {
	return document.At(node, r.add(key, value))
}

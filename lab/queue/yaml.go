package queue

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/pathwise-net/pathwise/document"
)

// UnmarshalYAML reads the limit alone (`500p`) or a mapping with the keys of Config. What it returns is valid.
func (c *Config) UnmarshalYAML(node ast.Node) error {
	*c = Config{}
	if _, plain := document.Scalar(node); plain {
		return c.Limit.UnmarshalYAML(node)
	}
	type mapping Config // without this method
	if err := document.Decode(node, (*mapping)(c)); err != nil {
		return err
	}
	return document.At(node, c.Validate())
}

// String is YAML in flow form that UnmarshalYAML reads as the same Config: the limit alone where that is all.
func (c Config) String() string {
	if c.Limit != (Amount{}) && c.Discipline == (Discipline{Limit: c.Limit}) && len(c.Classes) == 0 {
		return c.Limit.String()
	}
	var m mapping
	c.Discipline.write(&m)
	var classes []string
	for _, class := range c.Classes {
		classes = append(classes, class.String())
	}
	if len(classes) > 0 {
		m.put("classes", "["+strings.Join(classes, ", ")+"]")
	}
	return m.String()
}

// String is YAML in flow form.
func (c Class) String() string {
	var m mapping
	if token.IsNeedQuoted(c.Name) {
		c.Name = strconv.Quote(c.Name)
	}
	m.put("name", c.Name)
	if len(c.DSCP) > 0 {
		m.put("dscp", c.DSCP.String())
	}
	m.putTrue("default", c.Default)
	if c.Priority != 0 {
		m.put("priority", strconv.Itoa(int(c.Priority)))
	}
	m.putNumber("weight", c.Weight)
	c.Discipline.write(&m)
	return m.String()
}

func (d Discipline) write(m *mapping) {
	m.put("limit", d.Limit.String())
	m.put("drop", string(d.Drop))
	if d.RED != nil {
		m.put("red", d.RED.String())
	}
	if d.CoDel != nil {
		m.put("codel", d.CoDel.String())
	}
	m.putTrue("ecn", d.ECN)
}

// String is YAML in flow form.
func (r RED) String() string {
	var m mapping
	m.put("min", r.Min.String())
	m.put("max", r.Max.String())
	m.putNumber("probability", float64(r.Probability))
	m.putNumber("weight", float64(r.Weight))
	m.putTrue("gentle", r.Gentle)
	return m.String()
}

// String is YAML in flow form.
func (c CoDel) String() string {
	var m mapping
	if c.Target != 0 {
		m.put("target", c.Target.String())
	}
	if c.Interval != 0 {
		m.put("interval", c.Interval.String())
	}
	return m.String()
}

// mapping collects the keys of a flow mapping that have a value.
type mapping []string

func (m *mapping) put(key, value string) {
	if value != "" {
		*m = append(*m, key+": "+value)
	}
}

func (m *mapping) putTrue(key string, v bool) {
	if v {
		m.put(key, "true")
	}
}

func (m *mapping) putNumber(key string, v float64) {
	if v != 0 {
		m.put(key, strconv.FormatFloat(v, 'f', -1, 64))
	}
}

func (m mapping) String() string { return "{" + strings.Join(m, ", ") + "}" }

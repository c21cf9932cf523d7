package config

import (
	"maps"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/measure"
)

// parameters reads a mapping as encoding/json would have it, so that a Task is the same before and after it was sent.
func (r *reader) parameters(n node) map[string]any {
	all := map[string]any{}
	for _, e := range n.entries("{count: 10}") {
		all[e.key] = plain(e.value)
	}
	return all
}

// plain is a value as encoding/json has it. A number stays a text where it is not written as JSON writes it: 0100,
// 1_000.
func plain(n node) any {
	switch n.ast.(type) {
	case *ast.MappingNode:
		return n.r.parameters(n)
	case *ast.SequenceNode:
		list := []any{}
		for _, item := range n.items() {
			list = append(list, plain(item))
		}
		return list
	case *ast.BoolNode:
		return n.text() == "true"
	case *ast.IntegerNode, *ast.FloatNode:
		if v, err := strconv.ParseFloat(n.text(), 64); err == nil && isJSONNumber(n.text()) {
			return v
		}
		return n.text()
	}
	text, _ := n.scalar("a value")
	return text
}

// isJSONNumber tells 10 and 1.5e3 from 010, 0x10, +1 and 1_000.
func isJSONNumber(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return strings.Trim(s, "0123456789.eE+-") == "" && !strings.HasPrefix(s, "+") &&
		(len(digits) < 2 || digits[0] != '0' || digits[1] == '.')
}

// override reads what a host says of a tool: values of a command, as written, or parameters of a probe.
func (r *reader) override(n node, t *Tool) map[string]any {
	if t.Command != nil {
		own := map[string]any{}
		for name, text := range readValues(n) {
			own[name] = text
		}
		return own
	}
	own := r.parameters(n)
	merged := maps.Clone(own)
	for name, v := range t.Parameters {
		if _, over := own[name]; !over {
			merged[name] = v
		}
	}
	r.checkTask(n, measure.Task{Kind: t.Kind, Target: exampleTarget, Parameters: merged})
	return own
}

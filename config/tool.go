package config

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// commandTimeout is the time limit of a command whose tool sets none. It is as long as a person waits for a test; a program that
// hangs must not keep its host from measuring.
const commandTimeout = time.Minute

// tool reads the section tools.
func (r *reader) tool(n node) {
	for _, e := range n.entries("{rtt: {probe: ping}}") {
		t := Tool{Name: e.key}
		value(e.at, &t.Name, parseName)
		if !r.define(e.at) {
			continue
		}
		r.toolFields(e.value, &t)
		r.mesh.tools[t.Name] = len(r.mesh.Tools)
		r.mesh.Tools = append(r.mesh.Tools, t)
	}
}

func (r *reader) toolFields(n node, t *Tool) {
	online, exclusive := true, false
	command := Command{}
	before := len(r.errs)
	given := n.fields("{probe: ping, parameters: {count: 10}}", fields{
		"probe":      into(&t.Kind, parseName),
		"parameters": func(n node) { t.Parameters = r.parameters(n) },
		"command":    func(n node) { command.Words = readWords(n) },
		"server":     func(n node) { command.Server = readWords(n) },
		"values":     func(n node) { command.Values = readValues(n) },
		"parse":      func(n node) { command.Parse = readRules(n) },
		"timeout":    into(&t.Timeout, parseSpan),
		"exclusive":  into(&exclusive, parseBool),
		"needs":      func(n node) { readNeeds(n, &t.Needs) },
		"online":     into(&online, parseBool),
	})
	t.Offline = !online
	if _, said := given["exclusive"]; said {
		t.Exclusive = &exclusive
	}
	at, probe := given["probe"]
	if p, has := given["parameters"]; has {
		p.noteParameters(t.Kind)
	}
	t.Itself = r.itself(t.Kind)
	if t.Kind == KindCommand {
		at.noteOutward()
	}
	_, program := given["command"]
	if probe == program {
		n.fail("", "either probe or command")
	}
	if program {
		t.Kind, t.Command = KindCommand, &command
		t.Timeout = cmp.Or(t.Timeout, commandTimeout)
		command.rules = rulesJSON(command.Parse)
		refuse(given, "with command, values are what fills its placeholders", "parameters")
	} else {
		refuse(given, "server, values and parse only with command", "server", "values", "parse")
	}
	if len(r.errs) == before && probe {
		at := n
		if p, has := given["parameters"]; has {
			at = p
		}
		r.checkTask(at, measure.Task{Kind: t.Kind, Target: exampleTarget, Parameters: t.Parameters})
	}
}

// itself asks the Checker; without one, the kind host is the one that measures its own host.
func (r *reader) itself(kind string) bool {
	if r.check == nil {
		return kind == "host"
	}
	return r.check.Itself(kind)
}

// refuse records those of the keys that are given.
func refuse(given map[string]node, want string, keys ...string) {
	for _, key := range keys {
		if n, has := given[key]; has {
			n.fail("", "%s", want)
		}
	}
}

func readNeeds(n node, needs *Needs) {
	n.fields("{duration: 20s, bytes: 100MB}", fields{
		"duration": into(&needs.Duration, parseSpan),
		"bytes":    into(&needs.Bytes, parseBytes),
		"rate":     into(&needs.BitsPerSecond, quantity.ParseRate),
	})
}

// exampleTarget stands for the target when a task is checked (RFC 5737).
const (
	exampleTarget = "192.0.2.1"
	examplePort   = 5201
)

// complaint is how a Checker may say which parameter is wrong, and why: count "0": give a whole number from 1.
var complaint = regexp.MustCompile(`^(\S+) "(.*)": (give )?(.*)$`)

// checkTask asks the Checker, and places its error at the parameter that it names.
func (r *reader) checkTask(at node, task measure.Task) {
	if r.check == nil {
		return
	}
	err := r.check.Validate(task)
	if err == nil {
		return
	}
	field, value, want := "", "", "what the probe takes: "+err.Error()
	var known *Error
	if errors.As(err, &known) {
		field, value, want = known.Field, known.Value, strings.TrimPrefix(known.Want, "give ")
	} else if m := complaint.FindStringSubmatch(err.Error()); m != nil {
		field, value, want = m[1], m[2], m[4]
		if m[3] == "" {
			want = "what the probe takes: " + want
		}
	}
	if at.isMapping() {
		for _, e := range at.entries("") {
			if e.key == field {
				at = e.value
			}
		}
	}
	at.fail(value, "%s", want)
}

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

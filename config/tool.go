package config

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// commandTimeout is that of a command that has none: what a person waits for a test, so that a program that hangs does
// not keep its host from measuring.
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

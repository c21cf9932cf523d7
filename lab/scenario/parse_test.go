package scenario

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// head is the beginning of a case up to its steps: six lines.
const head = `name: x
title: X
cause: none
lab:
  hosts: {a: {}, b: {}}
  links: [{between: [a, b], delay: 1ms}]
`

func TestParse(t *testing.T) {
	c, err := Parse("x.yaml", []byte(head+`steps:
  - set: {between: [a, b], loss: 1%, forward: {delay: 5ms}}
  - set: {host: a, sysctl: {net.ipv4.tcp_sack: 0}}
  - exec: {on: b, run: [sleep, 1.50], background: true, ready: up, as: one}
  - measure: {on: a, run: [ping, b, -c, 010], as: two, status: any, timeout: 5s}
  - wait: 2s
  - wait: {for: one}
  - stop: one
  - expect: {of: two, over: one, value: metrics.rtt_min_seconds, over_value: x, near: 12ms, within: 5%}
  - expect: {of: truth, link: [b, a], value: dropped.loss, equal: 0}
  - expect: {of: two, verdict: healthy}
`))
	if err != nil {
		t.Fatal(err)
	}
	one := "one"
	delay := notation.Delay(5e6)
	want := []Step{
		{place: place{8, 5}, Set: &Set{Between: []string{"a", "b"}, Shape: link.Shape{Loss: chance.Independent(0.01)}, Forward: &link.Shape{Delay: &delay}}},
		{place: place{9, 5}, Set: &Set{Host: "a", Sysctl: map[string]string{"net.ipv4.tcp_sack": "0"}}},
		{place: place{10, 5}, Exec: &Program{On: "b", Run: Words{"sleep", "1.50"}, Background: true, Ready: "up", As: "one"}},
		{place: place{11, 5}, Measure: &Program{On: "a", Run: Words{"ping", "b", "-c", "010"}, As: "two", Status: AnyStatus,
			Timeout: notation.Span(5 * time.Second)}},
		{place: place{12, 5}, Wait: &Wait{Time: notation.Span(2 * time.Second)}},
		{place: place{13, 5}, Wait: &Wait{For: "one"}},
		{place: place{14, 5}, Stop: &one},
		{place: place{15, 5}, Expect: &Expect{Of: "two", Over: "one", Value: "metrics.rtt_min_seconds", OverValue: "x",
			Near: &Bound{"12ms", 0.012, true, inSeconds}, Within: &Bound{"5%", 0.05, true, inRatio}}},
		{place: place{16, 5}, Expect: &Expect{Of: truthName, Link: []string{"b", "a"}, Value: "dropped.loss", Equal: &Bound{"0", 0, true, noUnit}}},
		{place: place{17, 5}, Expect: &Expect{Of: "two", Verdict: "healthy"}},
	}
	if diff := cmp.Diff(want, c.Steps, cmp.AllowUnexported(Step{}, place{}, Bound{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// A fault in a case is told with its place and with what would be right.
func TestParseFaults(t *testing.T) {
	step := func(text string) string { return head + "steps:\n  - " + text + "\n" }
	after := func(text string) string {
		return head + "steps:\n  - exec: {on: a, run: [x], as: one}\n  - exec: {on: a, run: [x], as: bg, background: true}\n  - " + text + "\n"
	}
	for _, test := range []struct{ text, want string }{
		{"", "missing"},
		{"name: Big Name\n" + strings.TrimPrefix(head, "name: x\n") + "skip: no\n", `x.yaml:1:7: name: "Big Name": want small letters`},
		{strings.Replace(head, "title: X\n", "", 1), "title: missing"},
		{strings.Replace(head, "cause: none\n", "", 1), "cause: missing"},
		{head, "steps: none"},
		{head + "colour: red\n", "x.yaml:7:1: unknown field"},
		{strings.Replace(head, "delay: 1ms", "delay: 1parsec", 1) + "skip: no\n", "x.yaml:6:36: delay"},
		{strings.Replace(head, "[a, b]", "[a, c]", 1) + "skip: no\n", `lab: links: number 1: between: "c": no such host`},
		{step("{}"), "x.yaml:8:5: a step of 0 parts"},
		{step("{wait: 1s, stop: x}"), "x.yaml:8:6: a step of 2 parts"},
		{step("fly: {}"), "x.yaml:8:5: unknown field"},
		{step("wait: soon"), "x.yaml:8:11: wait: \"soon\": want a duration"},
		{step("wait: 2h"), "want at most 1h"},
		{step("wait: {for: nobody}"), `x.yaml:8:5: wait: "nobody": no program before this`},
		{step("stop: nobody"), `x.yaml:8:5: stop: "nobody": no program before this`},
		{step("exec: {on: a, run: [x], background: true}") + "  - stop: ''\n", `x.yaml:9:5: stop: "": no program before this`},
		{step("exec: {run: [x]}"), "on: missing"},
		{step("exec: {on: a}"), "run: missing"},
		{step("exec: {on: a, run: x}"), "x.yaml:8:24: run: want a list of words"},
		{step("exec: {on: z, run: [x]}"), `x.yaml:8:5: exec: on: "z": no such host`},
		{step("exec: {on: a, run: [x], status: ok}"), `x.yaml:8:37: status: "ok": want an exit status`},
		{step("exec: {on: a, run: [x], as: truth}"), "is the lab's own account"},
		{step("exec: {on: a, run: [x], ready: up}"), "ready: means nothing"},
		{step("measure: {on: a, run: [x], as: a b}"), "as: \"a b\": want letters"},
		{after("exec: {on: a, run: [x], as: one}"), `x.yaml:10:5: exec: as: "one": is another program's name`},
		{after("wait: {for: one}"), `wait: "one": no program before this runs in the background`},
		{step("set: {loss: 1%}"), "want between:"},
		{step("set: {between: [a, b]}"), "between: nothing to set"},
		{step("set: {between: [a], loss: 1%}"), "between: 1 nodes; want two"},
		{step("set: {between: [a, z], loss: 1%}"), `x.yaml:8:5: set: between: no link joins "a" and "z"`},
		{step("set: {between: [a, b], loss: 101%}"), "x.yaml:8:34: loss"},
		{step("set: {host: a}"), "want host: and sysctl: together"},
		{step("set: {host: z, sysctl: {net.x: 1}}"), `set: host: "z": no such host`},
		{step("set: {route: {at: a, to: b, via: z}}"), `set: route: no link joins "a" and "z"`},
		{step("expect: {value: x, above: 1}"), "of: missing"},
		{step("expect: {of: one, value: x, above: 1}"), `expect: of: "one": no program before this has that name`},
		{after("expect: {of: one, above: 1}"), "value: missing"},
		{after("expect: {of: one, value: x, above: 1, reference: 2 s}"), "reference: is of a figure; want figure:"},
		{after("expect: {of: one, value: x}"), "nothing is expected"},
		{after("expect: {of: one, value: x, above: much}"), `x.yaml:10:40: above: "much": want a number`},
		{after("expect: {of: one, value: x, above: 2, below: 1}"), "no value is above that and below"},
		{after("expect: {of: one, value: x, near: 2}"), "want near: and within: together"},
		{after("expect: {of: one, value: a..b, above: 2}"), "value: want keys with single dots"},
		{after("expect: {of: one, value: 'a[b]', above: 2}"), "want key=value between the brackets"},
		{after("expect: {of: one, value: x, link: [a, b], above: 2}"), "want truth for a link"},
		{after("expect: {of: truth, value: x, link: [a, a], above: 2}"), "expect: link: no link joins"},
		{after("expect: {of: truth, value: x, flow: everything, above: 2}"), "flow: \"everything\": want one such as tcp a > b"},
		{after("expect: {of: truth, value: x, flow: tcp a > z, above: 2}"), `expect: flow: "z": no such host`},
		{after("expect: {of: truth, value: x, router: r, above: 2}"), `expect: router: "r": no such router`},
		{after("expect: {of: one, over: two, value: x, above: 2}"), `expect: over: "two": no program`},
		{after("expect: {of: one, verdict: healthy, value: x}"), "verdict: stands for a value of its own"},
		{after("expect: {of: one, verdict: healthy, near: 1}"), "want near: and within: together"},
		{after("expect: {of: one, verdict: healthy, present: true}"), "present: stands alone; other bounds imply it"},
		{after("expect: {of: one, value: x, above: 2, present: true}"), "present: stands alone; other bounds imply it"},
		{after("expect: {of: one, value: x, lacks: y, present: true}"), "present: stands alone; other bounds imply it"},
		{after("expect: {of: truth, value: x, flow: tcp a > b, since: truth, above: 2}"), `expect: since: "truth": no program`},
		{after("expect: {of: one, value: x, over: truth, above: 2}"), "over: want the name of a program before"},
	} {
		_, err := Parse("x.yaml", []byte(test.text))
		var bad *document.Error
		if !errors.As(err, &bad) {
			t.Errorf("%q: error %v; want a *document.Error", test.text, err)
			continue
		}
		if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %q; want %q in it", test.text, err, test.want)
		}
		if strings.Contains(test.text, "steps:") && (bad.Line == 0 || bad.Column == 0) {
			t.Errorf("%q: error %q has no place", test.text, err)
		}
	}
}

// Whatever stands in a file, reading it ends, and what is read can be described.
func FuzzParse(f *testing.F) {
	f.Add(head + "steps:\n  - expect: {of: truth, link: [a, b], value: 'x[a=b].c', above: 1mbit}\n")
	f.Add(head + "steps: [{set: {between: [a, b], loss: {gilbert: {ratio: 1%, burst: 2}}}}]\n")
	f.Add(head + "steps: [{exec: {on: a, run: [x], as: y, background: true}}, {wait: {for: y}}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("x.yaml", []byte(text))
		if err != nil {
			var bad *document.Error
			if !errors.As(err, &bad) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for _, s := range c.Steps {
			if kind, what := s.describe(); kind == "" || what == "" && s.Measure == nil && s.Exec == nil {
				t.Errorf("step %+v has no description", s)
			}
		}
	})
}

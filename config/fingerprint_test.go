package config

import (
	"strings"
	"testing"
)

const printed = `
hosts:
  a: {address: 10.0.0.1, labels: [x]}
  b: {address: 10.0.0.2, tools: {other: {file: f}}}
  c: 10.0.0.3
  d: 10.0.0.4
tools:
  rtt: {probe: ping, parameters: {count: 10, size: 56}}
  other: {command: "x {target} {file}", values: {file: g}, parse: {a_seconds: "(.)"}}
groups: {g: {mesh: [a, b, c]}, h: {mesh: [c, d]}}
tests:
  - {tool: rtt, group: g, schedule: {every: 1m}}
  - {tool: other, group: h, schedule: {every: 1m}}
exclude:
  - {pair: [a, c]}
  - {tool: rtt, host: b, hours: 08:00-18:00}
`

func TestFingerprint(t *testing.T) {
	print := func(text string) string {
		m := parsed(t, text)
		return m.Fingerprint(m.Test("rtt@g"))
	}
	before := print(printed)
	if len(before) != 16 || before != print(printed) {
		t.Fatalf("%q is not 16 letters, or differs from the same mesh's", before)
	}
	cases := []struct {
		old, new string
		changes  bool
	}{
		{"{count: 10, size: 56}", "{count: 10, size: 57}", true},
		{"{count: 10, size: 56}", "{size: 56, count: 10.0}", false},
		{"{count: 10, size: 56}}", "{count: 10, size: 56}, timeout: 5s}", true},
		{"{count: 10, size: 56}}", "{count: 10, size: 56}, online: false}", true},
		{"{every: 1m}}\n  - {tool: other", "{every: 2m}}\n  - {tool: other", true},
		{"{every: 1m}}\n  - {tool: other", "{every: 60s, sampling: periodic}}\n  - {tool: other", false},
		{"{mesh: [a, b, c]}", "{mesh: [c, a, b]}", false},
		{"{mesh: [a, b, c]}", "{mesh: [a, b, c, d]}", true},
		{"{mesh: [a, b, c]}", "{sides: {left: [a, b, c], right: [a, b, c]}}", true},
		{"10.0.0.3", "10.0.1.3", true},
		{"c: 10.0.0.3", "c: {address: 10.0.0.3, online: false}", true},
		{"c: 10.0.0.3", "c: {address: 10.0.0.3, tools: {rtt: {count: 1}}}", true},
		{"10.0.0.4", "10.0.1.4", false},
		{"labels: [x]", "labels: [y], site: S", false},
		{"{file: f}", "{file: g}", false},
		{"{pair: [a, c]}", "{pair: [a, b]}", true},
		{"{pair: [a, c]}", "{pair: [[a, c], [a, d]]}", false},
		{"{tool: rtt, host: b,", "{host: b,", false},
		{"{tool: rtt, host: b,", "{tool: rtt, host: a,", true},
		{"{tool: rtt, host: b,", "{tool: other, host: b,", true},
		{"08:00-18:00", "08:00-19:00", true},
		{"08:00-18:00", "08:00-18:00, days: mon-fri", true},
	}
	for _, c := range cases {
		if !strings.Contains(printed, c.old) {
			t.Fatalf("%q is not in the text", c.old)
		}
		after := print(strings.Replace(printed, c.old, c.new, 1))
		if (after != before) != c.changes {
			t.Errorf("%s to %s: changed %v, want %v", c.old, c.new, after != before, c.changes)
		}
	}
}

package config

import (
	"slices"
	"strings"
	"testing"
)

// Every key of a mesh file says whether it leads out of the controller's machine, and nothing else does.
func TestEveryKeySaysWhetherItLeadsOut(t *testing.T) {
	keys := schema(t)
	if len(keys) < 100 {
		t.Fatalf("only %d keys: %v", len(keys), keys)
	}
	for _, key := range keys {
		what, known := leads[key]
		inside := slices.ContainsFunc(keys, func(other string) bool { return strings.HasPrefix(other, key+".") })
		above := leads[strings.TrimSuffix(key[:max(0, strings.LastIndex(key, "."))], ".*")]
		switch {
		case !known:
			t.Errorf("%s: say in leads whether it leads out of the controller's machine", key)
		case above == outward && what != outward:
			t.Errorf("%s stands in what leads out, and says that it does not", key)
		case what == parts && !inside, what == inward && inside:
			t.Errorf("%s: %d, and has keys: %v", key, what, inside)
		}
	}
	for key := range leads {
		if !slices.Contains(keys, key) {
			t.Errorf("leads speaks of %s, which no mesh file can have", key)
		}
	}
}

// outwardOf reads what leads out of a text, whatever else is wrong with it.
func outwardOf(text string) map[string]string {
	r := &reader{mesh: newMesh(), check: someKinds{}}
	sections := map[string][]node{}
	r.open(File{"", []byte(text)}, sections)
	r.read(sections)
	return r.mesh.outward
}

// below is a text with a value at a key of the schema.
func below(key, value string) string {
	path := strings.Split(key, ".")
	for _, name := range slices.Backward(path) {
		if name == "*" {
			name = "x"
		}
		value = "{" + name + ": " + value + "}"
	}
	return value
}

// A change of any key that leads out is told, and of no other; which order and which comments things have changes nothing.
func TestOutwardIsTold(t *testing.T) {
	for key, what := range leads {
		if what != outward && what != inward {
			continue
		}
		one, two := &Mesh{outward: outwardOf(below(key, "1"))}, &Mesh{outward: outwardOf(below(key, "2"))}
		for _, pair := range [][2]*Mesh{{one, two}, {one, newMesh()}, {newMesh(), one}} {
			told := strings.Join(pair[0].Outward(pair[1]), " ")
			if is := strings.Contains(" "+told, " "+strings.ReplaceAll(key, "*", "x")); is != (what == outward) {
				t.Errorf("%s: told %q", key, told)
			}
		}
	}
	same := &Mesh{outward: outwardOf("controller: {public: true, nats: {listen: ':1', url: a}} # as before\n")}
	if told := same.Outward(&Mesh{outward: outwardOf("controller:\n  nats:\n    url: a\n    listen: ':1'\n  public: true\n")}); told != nil {
		t.Errorf("told of what is only written otherwise: %v", told)
	}
}

// Of things that stand within each other, the innermost that differs is told alone: also of an element of a list.
func TestOutwardTellsTheInnermost(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"controller: {remote_write: [{url: a}, {url: b}]}", "controller: {remote_write: [{url: a}, {url: c}]}", "controller.remote_write[1].url"},
		{"controller: {callers: {assign: [{class: a}]}}", "controller: {callers: {assign: [{class: b}]}}", "controller.callers.assign[0].class"},
		{"controller: {proxies: [10.0.0.1]}", "controller: {proxies: [10.0.0.2]}", "controller.proxies"},
	} {
		to, from := &Mesh{outward: outwardOf(c.to)}, &Mesh{outward: outwardOf(c.from)}
		if told := strings.Join(to.Outward(from), " "); told != c.want {
			t.Errorf("told %q, want %q, of\n%s\n%s", told, c.want, c.from, c.to)
		}
	}
}

// What leads out by its value alone is told by that.
func TestOutwardByValue(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct{ key, from, to, want string }{
		{"tools.*.probe", "tools: {x: {probe: ping}}", "tools: {x: {probe: trace}}", ""},
		{"tools.*.probe", "tools: {x: {probe: ping}}", "tools: {x: {probe: command}}", "tools.x.probe"},
		{"tools.*.parameters", "tools: {x: {probe: ping, parameters: {count: 1}}}", "tools: {x: {probe: ping, parameters: {count: 2}}}", ""},
		{"tools.*.parameters", "tools: {x: {parameters: {path: /a}, probe: host}}", "tools: {x: {parameters: {path: /b}, probe: host}}", "tools.x.parameters.path"},
		{"tools.*.parameters", "tools: {x: {probe: command, parameters: {argv: [a]}}}", "tools: {x: {probe: command, parameters: {argv: [b]}}}", "tools.x.parameters"},
		{"tools.*.parameters", "tools: {x: {probe: trace, parameters: {port: 1}}}", "tools: {x: {probe: trace}}", "tools.x.parameters.port"},
		{"hosts.*.tools", "tools: {p: {probe: ping}}\nhosts: {x: {tools: {p: {count: 1}}}}", "tools: {p: {probe: ping}}\nhosts: {x: {tools: {p: {count: 2}}}}", ""},
		{"hosts.*.tools", "tools: {c: {command: x}}\nhosts: {x: {tools: {c: {file: a}}}}", "tools: {c: {command: x}}\nhosts: {x: {tools: {c: {file: b}}}}", "hosts.x.tools.c"},
		{"hosts.*.address", "hosts: {x: {address: 10.0.0.1}}", "hosts: {x: {address: 10.0.0.2}}", ""},
		{"hosts.*.address", "hosts: {x: 10.0.0.1}", "hosts: {x: 10.0.0.2, y: 10.0.0.3}", ""},
		{"hosts.*.address", "hosts: {x: {address: 10.0.0.1, reach: ssh}}", "hosts: {x: {address: 10.0.0.2, reach: ssh}}", "hosts.x.address"},
		{"hosts.*.address", "hosts: {x: {address: 10.0.0.1, reach: {ssh: {address: 10.0.0.3}}}}", "hosts: {x: {address: 10.0.0.2, reach: {ssh: {address: 10.0.0.3}}}}", ""},
		{"hosts.*.interfaces", "hosts: {x: {interfaces: {e: 10.0.0.1}}}", "hosts: {x: {interfaces: {e: 10.0.0.2}}}", ""},
		{"hosts.*.interfaces", "hosts: {x: {interfaces: {e: 10.0.0.1}, reach: ssh}}", "hosts: {x: {interfaces: {e: 10.0.0.2}, reach: ssh}}", "hosts.x.address"},
		{"hosts.*.interfaces.*.address", "hosts: {x: {interfaces: {e: {address: 10.0.0.1}}, reach: ssh}}", "hosts: {x: {interfaces: {e: {address: 10.0.0.2}}, reach: ssh}}", "hosts.x.address"},
		{"hosts.*.reach", "hosts: {x: {address: 10.0.0.1, reach: agent}}", "hosts: {x: {address: 10.0.0.1, reach: responder}}", ""},
		{"hosts.*.reach", "hosts: {x: {address: 10.0.0.1, reach: agent}}", "hosts: {x: {address: 10.0.0.1, reach: ssh}}", "hosts.x.address hosts.x.reach"},
	} {
		seen[c.key] = true
		to, from := &Mesh{outward: outwardOf(c.to)}, &Mesh{outward: outwardOf(c.from)}
		if told := strings.Join(to.Outward(from), " "); told != c.want {
			t.Errorf("%s: told %q, want %q, of\n%s\n%s", c.key, told, c.want, c.from, c.to)
		}
	}
	for key, what := range leads {
		if what == byValue && !seen[key] {
			t.Errorf("%s leads out by its value, and no example shows when", key)
		}
	}
}

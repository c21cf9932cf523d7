package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// taskOf is the task of a test between two hosts of testdata/folder.
func taskOf(t *testing.T, m *Mesh, test, source, target string, port int) (measure.Task, []string) {
	t.Helper()
	of := m.Test(test)
	s, _ := m.Host(source)
	d, ok := m.Host(target)
	if of == nil || !ok {
		t.Fatalf("no test %s or host %s", test, target)
	}
	leg, err := m.Leg(of, m.Tool(of.Tool), s, d)
	if err != nil {
		t.Fatal(err)
	}
	return m.Task(m.Tool(of.Tool), leg, port), m.Server(m.Tool(of.Tool), leg, port)
}

func TestTasks(t *testing.T) {
	m := load(t)
	rules := []any{
		map[string]any{"metric": "throughput_bits_per_second", "regex": "rate ([0-9.]+) Mb/s"},
		map[string]any{"metric": "loss_ratio", "json": "$.loss", "unit": "%"},
		map[string]any{"metric": "sent_bytes", "key": "Bytes sent", "scale": 1024.0},
	}
	argv := func(program string) []any {
		return []any{program, "-P", "2", "-t", "{length}", "{file}", "{target}:{target.path}", "-z", "{source}", "#", "{target_name}"}
	}
	cases := []struct {
		test, source, target string
		port                 int
		want                 measure.Task
		server               []string
	}{
		{"rtt@all", "ucl", "cern", 0, measure.Task{Kind: "ping", Target: "cern.example.org",
			Parameters: map[string]any{"count": 10.0, "size": 56.0, "interval": 0.5, "df": true}}, nil},
		{"bulk@gpus", "ucl", "ral", 0, measure.Task{Kind: "throughput", Target: "10.2.0.1",
			Parameters: map[string]any{"duration": "10s", "rate": "20mbit", "cc": "bbr"}}, nil},
		{"bulk@gpus", "ral", "ucl", 0, measure.Task{Kind: "throughput", Target: "10.1.0.1",
			Parameters: map[string]any{"duration": "10s", "rate": "20mbit", "port": 5300.0}}, nil},
		{"bulk@gpus", "ral", "ucl", 5203, measure.Task{Kind: "throughput", Target: "10.1.0.1",
			Parameters: map[string]any{"duration": "10s", "rate": "20mbit", "port": 5203.0}}, nil},
		{"sampled", "ral", "ucl", 0, measure.Task{Kind: "throughput", Target: "10.1.1.1", // the group means eth1
			Parameters: map[string]any{"duration": "10s", "rate": "20mbit", "port": 5300.0}}, nil},
		{"own/load", "ucl", "ucl", 0, measure.Task{Kind: "host"}, nil},
		{"bbcp@gpus", "ucl", "ral", 0, measure.Task{Kind: "command", Target: "10.2.0.1", Parameters: map[string]any{
			"argv": argv("/opt/bbcp"), "parse": rules,
			"values": map[string]any{"length": "10", "file": "/data/1 GB", "target.path": "/tmp", "source": "10.1.0.1", "target_name": "ral"},
		}}, []string{"sh", "-c", "exec bbcp -s 5031"}},
		{"bbcp@gpus", "ral", "ucl", 5210, measure.Task{Kind: "command", Target: "10.1.0.1", Parameters: map[string]any{
			"argv": argv("bbcp"), "parse": rules,
			"values": map[string]any{"length": "10", "file": "/data/1 GB", "target.path": "/data", "source": "10.2.0.1", "target_name": "ucl"},
		}}, []string{"sh", "-c", "exec bbcp -s 5210"}},
	}
	for _, c := range cases {
		got, server := taskOf(t, m, c.test, c.source, c.target, c.port)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s from %s to %s (-want +got):\n%s", c.test, c.source, c.target, diff)
		}
		if diff := cmp.Diff(c.server, server); diff != "" {
			t.Errorf("%s: server (-want +got):\n%s", c.test, diff)
		}
		sent, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var back measure.Task
		if err := json.Unmarshal(sent, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, back); diff != "" {
			t.Errorf("%s changes on the wire (-sent +received):\n%s", c.test, diff)
		}
	}
}

func TestLegsByFamilyAndInterface(t *testing.T) {
	m := parsed(t, `
hosts:
  both:  {interfaces: {eth0: 10.0.0.1, eth1: [10.0.1.1, "fd00::1"]}}
  dual:  {address: ["fd00::2", 10.0.0.2]}
  four:  10.0.0.3
  six:   fd00::4
  named: named.example.org
  name2: name2.example.org
tools:
  rtt:  {probe: ping}
  rtt6: {probe: ping, parameters: {family: ipv6}}
  rtt4: {probe: ping, parameters: {family: ipv4}}
  cp:   {command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 9s}
groups: {g: {mesh: [both, dual, four]}, h: {mesh: [both/eth1, dual]}, n: {mesh: [both, dual, named, name2]}}
tests:
  - {name: any, tool: rtt, group: g, schedule: {every: 1m}}
  - {name: four, tool: rtt, group: g, family: 4, schedule: {every: 1m}}
  - {name: eth1, tool: rtt, group: h, family: 6, schedule: {every: 1m}}
  - {name: six,  tool: rtt6, group: n, schedule: {every: 1m}}
  - {name: name, tool: [rtt, cp], group: n, family: ipv4, schedule: {every: 1m}}
`)
	cases := []struct{ test, source, target, want string }{
		{"rtt", "both", "dual", "eth1 fd00::1 > fd00::2"},
		{"rtt", "dual", "both", "10.0.0.2 > eth0 10.0.0.1"},
		{"rtt", "four", "dual", "10.0.0.3 > 10.0.0.2"},
		{"rtt", "six", "both", "fd00::4 > eth1 fd00::1"},
		{"rtt", "six", "named", "fd00::4 > named.example.org"},
		{"rtt", "named", "six", "named.example.org > fd00::4"},
		{"rtt", "named", "name2", "named.example.org > name2.example.org"},
		{"rtt", "six", "four", "choose addresses from six to four: they share no address family that the test and its tool allow"},
		{"rtt6", "both", "dual", "eth1 fd00::1 > fd00::2 over ipv6"},
		{"rtt6", "named", "name2", "named.example.org > name2.example.org over ipv6"},
		{"rtt4", "six", "named", "choose addresses from six to named: they share no address family that the test and its tool allow"},
		{"rtt4", "dual", "both", "10.0.0.2 > eth0 10.0.0.1 over ipv4"},
		{"any", "four", "both", "10.0.0.3 > eth0 10.0.0.1"},
		{"four", "both", "dual", "eth0 10.0.0.1 > 10.0.0.2"},
		{"eth1", "dual", "both", "fd00::2 > eth1 fd00::1"},
		{"six", "dual", "both", "fd00::2 > eth1 fd00::1 over ipv6"},
		{"six", "dual", "named", "fd00::2 > named.example.org over ipv6"},
		{"name/rtt", "named", "name2", "named.example.org > name2.example.org over ipv4"},
		{"name/rtt", "dual", "both", "10.0.0.2 > eth0 10.0.0.1"},
		{"name/cp", "both", "named", "eth0 10.0.0.1 > named.example.org"}, // no program knows our parameters
	}
	for _, c := range cases {
		s, _ := m.Host(c.source)
		d, _ := m.Host(c.target)
		test, tool := m.Test(c.test), m.Tool(c.test) // on demand a tool has no test
		if test != nil {
			tool = m.Tool(test.Tool)
		}
		leg, err := m.Leg(test, tool, s, d)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			from, to := m.Hosts[s].Interfaces[leg.SourceInterface].Name, m.Hosts[d].Interfaces[leg.TargetInterface].Name
			got = strings.TrimSpace(from+" "+leg.SourceAddress) + " > " + strings.TrimSpace(to+" "+leg.TargetAddress)
			if family := m.Task(tool, leg, 0).Parameters[familyName]; family != nil {
				got += fmt.Sprint(" over ", family)
			}
		}
		if got != c.want {
			t.Errorf("%q from %s to %s: got %s, want %s", c.test, c.source, c.target, got, c.want)
		}
	}
}

func TestWordsOfACommand(t *testing.T) {
	good := map[string][]string{
		`bbcp -P 2 {file} {target}:{path}`: {"bbcp", "-P", "2", "{file}", "{target}:{path}"},
		`a 'b c' "d 'e' \" f" g\ h ''`:     {"a", "b c", `d 'e' " f`, "g h", ""},
		"  a\tb\n  c ":                     {"a", "b", "c"},
		`a'b'"c"d '|' "$(x)"`:              {"abcd", "|", "$(x)"},
		`a '\n' {{x}}`:                     {"a", `\n`, "{{x}}"},
	}
	for line, want := range good {
		got, err := splitWords(line)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", line, err, diff)
		}
	}
	for _, line := range []string{"", "  ", "''", "a 'b", `a "b`, `a \`, "a | b", "a; b", "a && b", "a > b", "a $(b)", "a `b`", "a *.dat"} {
		if got, err := splitWords(line); err == nil {
			t.Errorf("%s: got %q, want an error", line, got)
		}
	}
}

func TestAValueStaysInItsWord(t *testing.T) {
	evil := `x y; rm -rf "/" $(z) {target} {{`
	values := map[string]string{"v": evil, "a.b": "c"}
	lookup := func(name string) (string, bool) { v, ok := values[name]; return v, ok }
	got, missing := fill([]string{"run", "a{v}b", "{a.b}", "{{v}}", "{no}{v}", `{"json":1}`}, lookup)
	if diff := cmp.Diff([]string{"run", "a" + evil + "b", "c", "{v}", evil, `{"json":1}`}, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"{no}"}, missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

// The ports of a responder are by what answers there: a kind of its own, or a tool that is a command.
func TestPortsOfResponder(t *testing.T) {
	m := parsed(t, `
tools:
  get:  {command: "get {target}:{port}", parse: {received_bytes: {regex: '(\d+)'}}}
hosts:
  a:   10.0.0.1
  far: {address: 10.0.0.2, reach: responder, ports: {iperf3: 5201, get: 8080}}
groups: {g: {pairs: [[a, far]]}}
tests: [{tool: get, group: g, schedule: {every: 1m}}]
`)
	task, _ := taskOf(t, m, "get@g", "a", "far", 0)
	if diff := cmp.Diff(map[string]any{"port": "8080"}, task.Parameters["values"]); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	far, _ := m.Host("far")
	if diff := cmp.Diff(Ports{Fixed: map[string]int{"iperf3": 5201, "get": 8080}}, m.Hosts[far].Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

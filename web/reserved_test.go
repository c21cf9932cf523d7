package web

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/probe"
)

// What a caller with the scope run may set, by kind of probe: a value that is taken, and for what the mesh file alone may say,
// one that is not.
var (
	theirs = map[string]map[string]any{
		"capacity": {"reverse": true, "length": 1000, "family": "ipv4"},
		"host":     {"iface": "lo", "interval": "1s"},
		"ping": {"proto": "icmp", "count": 2, "interval": "200ms", "timeout": "1s", "size": 56, "ttl": 64, "dscp": 0, "df": false,
			"poisson": false, "family": "ipv4"},
		"throughput": {"proto": "tcp", "duration": "1s", "bytes": "1MB", "interval": "1s", "parallel": 1, "reverse": true, "bidir": true,
			"rate": "1mbit", "cc": "cubic", "window": "1MB", "length": "64KB", "event-loop": true, "mss": 1400, "nodelay": true, "dscp": 8,
			"family": "ipv4"},
		"trace": {"proto": "udp", "max-ttl": 5, "queries": 1, "timeout": "1s", "family": "ipv4"},
	}
	notTheirs = map[string]map[string]any{
		"capacity": {"port": 22},
		"command": {"argv": []string{"/bin/sh", "-c", "id"}, "values": map[string]string{"file": "/etc/shadow"}, "parse": []any{},
			"family": "ipv4"},
		"host":       {"path": "/root"},
		"ping":       {"port": 22},
		"throughput": {"port": 22},
		"trace":      {"port": 53},
	}
)

const reservedMesh = `
hosts: {a: 10.0.0.1, b: 10.0.0.2}
tools: {rtt: {probe: ping}, shell: {command: "echo {target}"}, odd: {probe: command, parameters: {argv: [echo, hello]}}}
controller: {callers: {classes: {staff: {}}, assign: [{class: staff, token: alice}]}}
`

// theirOwn is a value of a parameter that a caller may set; what is called timeout or family means the same of every kind.
func theirOwn(kind, parameter string) (value any, set bool) {
	switch value, set = theirs[kind][parameter]; {
	case set:
	case parameter == "timeout":
		return "1s", true
	case parameter == "family":
		return "ipv4", true
	}
	return value, set
}

// No parameter of POST /runs lets a caller run a program, name a file, or choose where data goes: each parameter of each kind is
// tried, so that one more must say here what it is.
func TestCallersCannotReachOut(t *testing.T) {
	b := newBenchOf(t, reservedMesh)
	close(b.hub.held)
	b.run()
	b.serve(b.Handler(public))
	alice := []string{"Authorization", "Bearer " + b.token("alice")}
	ask := func(target, tool string, parameters map[string]any) (int, string) {
		t.Helper()
		text, err := json.Marshal(map[string]any{"source": "a", "target": target, "tool": tool, "parameters": parameters, "patience_seconds": 3600})
		if err != nil {
			t.Fatal(err)
		}
		status, answer, _ := b.ask(http.MethodPost, "/api/v1/runs", string(text), alice...)
		return status, answer
	}
	tried := 0
	for _, k := range probe.Kinds() {
		target := map[bool]string{true: "a", false: "b"}[k.Name == "host"]
		for _, p := range k.Parameters {
			if v, set := notTheirs[k.Name][p.Name]; set {
				if status, answer := ask(target, k.Name, map[string]any{p.Name: v}); status != http.StatusForbidden && status != http.StatusUnprocessableEntity {
					t.Errorf("%s, %s: %v is taken: %d %s", k.Name, p.Name, v, status, answer)
				}
			} else if v, set := theirOwn(k.Name, p.Name); !set {
				t.Errorf("nobody says whether a caller may set %s of %s", p.Name, k.Name)
			} else if _, answer := ask(target, k.Name, map[string]any{p.Name: v}); !strings.Contains(answer, `"begins"`) {
				t.Errorf("%s, %s: %v is refused: %s", k.Name, p.Name, v, answer)
			}
			tried++
		}
	}
	for tool, parameters := range map[string]map[string]any{"command": nil, "shell": notTheirs["command"], "odd": notTheirs["command"]} {
		if status, answer := ask("b", tool, parameters); status != http.StatusUnprocessableEntity {
			t.Errorf("%s with %v: %d %s", tool, parameters, status, answer)
		}
	}
	if _, answer := ask("b", "shell", nil); !strings.Contains(answer, `"begins"`) {
		t.Errorf("the mesh file's own program: %s", answer)
	}
	for _, target := range []string{"10.0.0.2", "192.0.2.1", "b:22", "/etc/passwd", "b; id", "-oProxyCommand=id"} {
		for _, path := range []string{"runs", "diagnoses"} {
			body := map[string]any{"source": "a", "target": target, "tool": "rtt"}
			if path == "diagnoses" {
				delete(body, "tool")
			}
			text, _ := json.Marshal(body)
			b.expect(http.MethodPost, "/api/v1/"+path, string(text), http.StatusUnprocessableEntity, "a host of the mesh", alice...)
		}
	}
	for of, want := range map[reflect.Type]int{reflect.TypeFor[RunRequest](): 5, reflect.TypeFor[DiagnosisRequest](): 4} {
		if got := of.NumField(); got != want {
			t.Errorf("%v has %d fields, of which %d are tried here", of, got, want)
		}
	}
	if tried < 20 {
		t.Errorf("%d parameters are tried", tried)
	}
}

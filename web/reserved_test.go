package web

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/probe"
)

// anyValue is a value that a parameter takes: whichever it is, of its type.
func anyValue(t *testing.T, p probe.Parameter) any {
	candidates := []any{}
	for _, word := range p.Values {
		candidates = append(candidates, word)
	}
	candidates = append(candidates, true, "lo", "1s", "64KB", "1mbit", 1, 1000, []string{"/bin/sh", "-c", "id"}, "1..32", "64..1472",
		map[string]string{"file": "/etc/shadow"}, []any{}, "flow a end 1s constant rate 10/s size 100", "cc=reno,cubic")
	i := slices.IndexFunc(candidates, func(v any) bool { return p.Refuse(v) == "" })
	if i < 0 {
		t.Fatalf("no value is of %s: %s", p.Name, p.Refuse(nil))
	}
	return candidates[i]
}

const reservedMesh = `
hosts: {a: 10.0.0.1, b: 10.0.0.2}
tools: {rtt: {probe: ping}, shell: {command: "echo {target}"}, odd: {probe: command, parameters: {argv: [echo, hello]}}}
controller: {callers: {classes: {staff: {}}, assign: [{class: staff, token: alice}]}}
`

// No parameter of POST /runs lets a caller run a program, name a file, or choose where data goes: each parameter of each kind is
// tried, and taken unless it is Outward, of which the package of the probes keeps the list.
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
		target := map[bool]string{true: "a", false: "b"}[k.Itself]
		for _, p := range k.Parameters {
			v := anyValue(t, p)
			all := map[string]any{p.Name: v}
			if k.Name == "ping" && p.Name == "method" { // only proto tcp has methods
				all["proto"] = "tcp"
			}
			if k.Name == "owd" && (p.Name == "every" || p.Name == "time") { // of what goes on
				all["continuous"] = true
			}
			if strings.HasPrefix(p.Name, "sweep-") { // of a sweep
				all["sweep"] = "cc=reno,cubic"
			}
			if p.Name == "sweep-budget" { // enough for two points
				all[p.Name] = "1m"
			}
			if k.Name == "trace" && p.Name == "confidence" {
				all["multipath"], all[p.Name] = true, 0.9
			}
			if k.Name == "trace" && p.Name == "every" { // of rounds
				all["rounds"] = 3
			}
			status, answer := ask(target, k.Name, all)
			switch {
			case k.Name == config.KindCommand: // none of it
				if status != http.StatusUnprocessableEntity {
					t.Errorf("%s, %s: %v is taken: %d %s", k.Name, p.Name, v, status, answer)
				}
			case p.Outward && (status != http.StatusForbidden || !strings.Contains(answer, "only the mesh file says that")):
				t.Errorf("%s, %s: %v is taken: %d %s", k.Name, p.Name, v, status, answer)
			case !p.Outward && !strings.Contains(answer, `"begins"`):
				t.Errorf("%s, %s: %v is refused: %d %s", k.Name, p.Name, v, status, answer)
			}
			tried++
		}
	}
	program := map[string]any{"argv": []string{"/bin/sh", "-c", "id"}, "values": map[string]string{"file": "/etc/shadow"}, "parse": []any{}}
	for tool, parameters := range map[string]map[string]any{"command": nil, "shell": program, "odd": program} {
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
		point, _ := json.Marshal(map[string]any{"source": "a", "target": "b", "segments": true, "points": []string{target}})
		b.expect(http.MethodPost, "/api/v1/diagnoses", string(point), http.StatusUnprocessableEntity, "a host of the mesh", alice...)
	}
	for of, want := range map[reflect.Type]int{reflect.TypeFor[RunRequest](): 5, reflect.TypeFor[DiagnosisRequest](): 6} {
		if got := of.NumField(); got != want {
			t.Errorf("%v has %d fields, of which %d are tried here", of, got, want)
		}
	}
	if tried < 20 {
		t.Errorf("%d parameters are tried", tried)
	}
}

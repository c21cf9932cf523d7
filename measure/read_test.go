package measure

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A Result of the first schema gets the way and the role that it would be made with today, and no error of a clock of which
// nothing was known.
func TestReadSchema1(t *testing.T) {
	bound := 0.0004
	for name, c := range map[string]struct {
		text string
		want Result
	}{
		"ping":           {`"kind":"ping"`, Result{Kind: "ping", Role: RoleDemand}},
		"planned":        {`"kind":"ping","test":"rtt of all"`, Result{Kind: "ping", Test: "rtt of all", Role: RolePlanned}},
		"forward":        {`"kind":"throughput","parameters":{"reverse":false,"bidir":false}`, Result{Kind: "throughput", Way: Forward, Role: RoleDemand}},
		"no parameters":  {`"kind":"throughput"`, Result{Kind: "throughput", Way: Forward, Role: RoleDemand}},
		"reverse":        {`"kind":"throughput","parameters":{"reverse":true,"bidir":false}`, Result{Kind: "throughput", Way: Reverse, Role: RoleDemand}},
		"both":           {`"kind":"throughput","parameters":{"reverse":false,"bidir":true}`, Result{Kind: "throughput", Way: Both, Role: RoleDemand}},
		"trains":         {`"kind":"capacity","parameters":{"reverse":false}`, Result{Kind: "capacity", Way: Forward, Role: RoleDemand}},
		"trains back":    {`"kind":"capacity","parameters":{"reverse":true}`, Result{Kind: "capacity", Way: Reverse, Role: RoleDemand}},
		"direction":      {`"kind":"throughput","parameters":{"direction":"reverse"}`, Result{Kind: "throughput", Way: Reverse, Role: RoleDemand}},
		"directions":     {`"kind":"throughput","parameters":{"direction":"both"}`, Result{Kind: "throughput", Way: Both, Role: RoleDemand}},
		"a program":      {`"kind":"command","parameters":{"reverse":true}`, Result{Kind: "command", Role: RoleDemand}},
		"a good clock":   {`"kind":"ping","clock":{"synchronized":true,"error_seconds":0.0004}`, Result{Kind: "ping", Role: RoleDemand, Clock: Clock{Synchronized: true, ErrorSeconds: &bound}}},
		"an own clock":   {`"kind":"ping","clock":{"synchronized":false,"error_seconds":0}`, Result{Kind: "ping", Role: RoleDemand}},
		"a strange type": {`"kind":"throughput","parameters":{"reverse":[],"direction":{}}`, Result{Kind: "throughput", Way: Forward, Role: RoleDemand}},
	} {
		var got Result
		if err := json.Unmarshal([]byte(`{"schema":"pathwise.result/1",`+c.text+`}`), &got); err != nil {
			t.Fatal(err)
		}
		got.Parameters, c.want.Schema = nil, ResultSchema
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Parameters of probes get the names that tasks have for them, whatever the schema; those of programs stay as they are.
func TestReadFormerParameters(t *testing.T) {
	const old = `{"count":10,"interval_seconds":0.1,"size_bytes":56,"timeout_seconds":2,"ttl":0,"dscp":0,"dont_fragment":true,"sampling":"poisson"}`
	for _, schema := range []string{"pathwise.result/1", "pathwise.result/2"} {
		for kind, want := range map[string]map[string]any{
			"ping": {"count": 10., "interval": 0.1, "size": 56., "timeout": 2., "ttl": 0., "dscp": 0., "df": true, "poisson": true},
			"command": {"count": 10., "interval_seconds": 0.1, "size_bytes": 56., "timeout_seconds": 2., "ttl": 0., "dscp": 0., "dont_fragment": true,
				"sampling": "poisson"},
		} {
			var got Result
			if err := json.Unmarshal([]byte(`{"schema":"`+schema+`","kind":"`+kind+`","parameters":`+old+`}`), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Parameters); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", schema, kind, diff)
			}
		}
	}
}

// What this schema says of itself is left as it is, and so is a schema that is not known.
func TestReadSchema(t *testing.T) {
	for _, text := range []string{
		`{"schema":"pathwise.result/2","kind":"throughput","parameters":{"reverse":true},"clock":{"synchronized":false,"error_seconds":3}}`,
		`{"schema":"pathwise.result/3","kind":"throughput","test":"bulk of all","parameters":{"reverse":true}}`,
	} {
		var got Result
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if got.Way != "" || got.Role != "" || got.Schema == ResultSchema && *got.Clock.ErrorSeconds != 3 {
			t.Errorf("%s became %+v", text, got)
		}
	}
}

func TestRole(t *testing.T) {
	for role, want := range map[Role]struct {
		id, step string
		is       bool
		series   Role
	}{
		"planned":                 {"", "", false, "planned"},
		"demand":                  {"", "", false, "demand"},
		"":                        {"", "", false, ""},
		DiagnosisRole("01J", "a"): {"01J", "a", true, "diagnosis/a"},
		DiagnosisRole("1", "a/b"): {"1", "a/b", true, "diagnosis/a/b"},
		"diagnosis/01J":           {"01J", "", true, "diagnosis/"},
	} {
		id, step, is := role.Diagnosis()
		if id != want.id || step != want.step || is != want.is || role.Series() != want.series {
			t.Errorf("%q: %q %q %v, series %q", role, id, step, is, role.Series())
		}
	}
}

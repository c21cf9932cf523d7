package measure

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A Result has the subject that JSON says, if it is one.
func TestSubject(t *testing.T) {
	for name, c := range map[string]struct {
		text, said string
		want       *Subject
	}{
		"none":      {`null`, "", nil},
		"interface": {`{"kind":"interface","name":"eth0"}`, "", &Subject{SubjectInterface, "eth0"}},
		"flow":      {`{"kind":"flow","name":"10.0.0.1:5201/x"}`, "", &Subject{SubjectFlow, "10.0.0.1:5201/x"}},
		"people":    {`{"kind":"device","name":"Büro 3"}`, "", &Subject{SubjectDevice, "Büro 3"}},
		"class":     {`{"kind":"class","name":"EF"}`, "", &Subject{SubjectClass, "EF"}},
		"hop":       {`{"kind":"hop","name":"3"}`, "", &Subject{SubjectHop, "3"}},
		"no kind":   {`{"name":"eth0"}`, `kind is "", want interface, flow`, nil},
		"a kind":    {`{"kind":"port","name":"1"}`, `kind is "port"`, nil},
		"no name":   {`{"kind":"hop"}`, `name is "", want 1 to 200`, nil},
		"long":      {`{"kind":"hop","name":"` + strings.Repeat("x", 201) + `"}`, "want 1 to 200", nil},
		"control":   {`{"kind":"hop","name":"a\u0000"}`, "control characters", nil},
		"a text":    {`"eth0"`, "read subject", nil},
	} {
		var r Result
		err := json.Unmarshal([]byte(`{"schema":"pathwise.result/2","subject":`+c.text+`}`), &r)
		if c.said != "" {
			if err == nil || !strings.Contains(err.Error(), c.said) {
				t.Errorf("%s: error %v, want %q", name, err, c.said)
			}
			continue
		}
		if diff := cmp.Diff(c.want, r.Subject); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
		}
	}
	if got := (*Subject)(nil).String() + (&Subject{SubjectInterface, "eth0"}).String(); got != "interface/eth0" {
		t.Errorf("%q", got)
	}
}

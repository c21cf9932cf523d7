package config

import (
	"strings"
	"testing"
)

// The runs of a continuous tool are as long as the time between them; what its schedule would tear apart is refused.
func TestContinuousTools(t *testing.T) {
	for _, c := range []struct{ parameters, schedule, want string }{
		{"continuous: true", "every: 1m", ""},
		{"continuous: true, every: 5m", "every: 5m", ""},
		{"continuous: true, every: 90", "every: 90s", ""},
		{"continuous: false", "every: 10m", ""},
		{"continuous: true", "every: 10m", `"10m0s": want every: 1m0s, as long as a run of wan, or every: 10m0s among the parameters of that`},
		{"continuous: true, every: 5m", "every: 1m", `"1m0s": want every: 5m0s, as long as`},
		{"continuous: true", `cron: "* * * * *"`, `"wan": want a schedule {every: 1m0s}: wan is continuous`},
		{"continuous: true", "every: 1m, sampling: poisson", `"wan": want a schedule {every: 1m0s}`},
		{"continuous: true", "phase: night", `"wan": want a schedule {every: 1m0s}`},
	} {
		_, err := Parse([]File{{"mesh.yaml", []byte("hosts: {a: 10.0.0.1, b: 10.0.0.2}\ntools: {wan: {probe: owd, parameters: {" + c.parameters + "}}}\n" +
			"groups: {all: {mesh: all}}\nphases: {night: {every: 1m}}\ntests: [{tool: wan, group: all, schedule: {" + c.schedule + "}}]\n")}}, nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.parameters, c.schedule, err, c.want)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// A box that takes options out of the first packets of connections, and lowers their MSS, is named with the hops that it is between, by one step for all of it; a host
// that offers no option is told from it without one.
func TestDiagnoseNamesBoxOfOptions(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	carrying(t)
	const between = "between hop 2 (10.0.1.2) and hop 3 (10.0.2.2)"
	for name, c := range map[string]struct {
		box, carol string
		finds      map[string]string // what the findings say of where it is; "": nothing
		steps      int
	}{
		"a box": {"{strip: [sack, timestamps], mss: 600}", "{}",
			map[string]string{"no-sack": between, "no-timestamps": between, "small-mss": "An MSS of 1460 becomes 600 " + between}, 1},
		"the host": {"{}", `{sysctl: {net.ipv4.tcp_sack: "0", net.ipv4.tcp_timestamps: "0"}}`, map[string]string{"no-sack": "", "no-timestamps": ""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			spec, err := lab.ParseSpec("options", fmt.Appendf(nil, `
seed: 3
hosts: {bob: {}, carol: %s}
routers: {near: {}, box: %s, far: {}}
links:
  - {between: [bob, near]}
  - {between: [near, box], rate: 100mbit}
  - {between: [box, far], delay: 15ms, forward: {loss: {every: 300}}}
  - {between: [far, carol]}
`, c.carol, c.box))
			if err != nil {
				t.Fatal(err)
			}
			l := startLab(t, spec)
			readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
			var out bytes.Buffer
			onHost(t, l, "bob", &out, lab.Self(), "diagnose", "carol", "--json", "-t", "4", "--cc", "cubic")
			d := &diagnose.Diagnosis{}
			if err := json.Unmarshal(out.Bytes(), d); err != nil {
				t.Fatal(err)
			}
			steps := 0
			for _, r := range d.Results {
				if r.Parameters["middlebox"] == true {
					steps++
				}
			}
			if steps != c.steps {
				t.Errorf("%d steps of trace --middlebox, want %d", steps, c.steps)
			}
			for id, says := range c.finds {
				i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == id })
				if i < 0 || !strings.Contains(d.Findings[i].Explanation, says) || says == "" && strings.Contains(d.Findings[i].Explanation, "on the way") {
					t.Errorf("want %s, %q\n%s", id, says, inShort(d))
				}
			}
		})
	}
}

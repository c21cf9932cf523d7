package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// Both ways are found as the lab has them, and what they share: over IPv6, where they part, and up to a translator of addresses. A responder that traces for nobody says so, and the way there is shown.
func TestTraceBothInLab(t *testing.T) {
	t.Parallel() // it waits more than it works
	const parted = `hosts: {bob: {}, carol: {}}
routers: {home: {}, upper: {}, lower: {}, far: {}}
links:
  - {between: [bob, home]}
  - {between: [home, upper]}
  - {between: [upper, far], delay: 1ms}
  - {between: [home, lower], delay: 2ms}
  - {between: [lower, far], delay: 2ms}
  - {between: [far, carol]}
routes: [{at: far, to: bob, via: lower}]
`
	const translated = `hosts: {bob: {}, carol: {}}
routers: {home: {nat: {outside: core}}, core: {}}
links: [{between: [bob, home]}, {between: [home, core], delay: 1ms}, {between: [core, carol]}]
`
	for _, c := range []struct {
		name, lab, more, respond  string
		back, verdict, seen, says string
	}{
		{name: "parted", lab: parted, more: "-4", back: "10.0.5.1 10.0.4.1 10.0.3.1 10.0.0.1", verdict: measure.RoutesDiffer, seen: "10.0.0.1"},
		{name: "parted, IPv6", lab: parted, more: "-6", back: "fd70:6174:6877:5::1 fd70:6174:6877:4::1 fd70:6174:6877:3::1 fd70:6174:6877::1", verdict: measure.RoutesDiffer,
			seen: "fd70:6174:6877::1"},
		{name: "translated", lab: translated, more: "--proto=icmp", back: "10.0.2.1 10.0.1.1", verdict: measure.RoutesUnknown, seen: "10.0.1.1"},
		{name: "switched off", lab: translated, more: "-6", respond: "--no-connect-back", says: "its owner has switched that off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spec, err := lab.ParseSpec(c.name, []byte(c.lab))
			if err != nil {
				t.Fatal(err)
			}
			l := startLab(t, spec)
			argv := []string{lab.Self(), "respond"}
			if c.respond != "" {
				argv = append(argv, c.respond)
			}
			readyOnCarol(t, l, lab.Command{Argv: argv, Env: append(os.Environ(), actAsPathwise+"=1")})
			var out bytes.Buffer
			argv = []string{lab.Self(), "trace", "carol", "--both", "--json", c.more}
			if c.says != "" { // it fails
				argv = append([]string{"sh", "-c", `"$@"; true`, "sh"}, argv...)
			}
			onHost(t, l, "bob", &out, argv...)
			var r measure.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatalf("%v: %s", err, out.Bytes())
			}
			if c.says != "" {
				if !strings.Contains(*r.Error, c.says) || len(r.Samples.Hops) != 3 || r.Samples.Return != nil {
					t.Errorf("%s, %d hops; want %q", *r.Error, len(r.Samples.Hops), c.says)
				}
				return
			}
			var back []string
			for _, h := range r.Samples.Return.Hops {
				back = append(back, h.Addresses...)
			}
			got := r.Samples.Return
			if strings.Join(back, " ") != c.back || got.Comparison.Verdict != c.verdict || got.Seen != c.seen {
				t.Errorf("back over %s to %s: %s (%s)\nwant %s to %s: %s", back, got.Seen, got.Comparison.Verdict, got.Comparison.Says, c.back, c.seen, c.verdict)
			}
		})
	}
}

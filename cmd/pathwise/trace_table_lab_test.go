package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// publishedWays are routes both ways as texts have them, in labs of the same routers. Routers answer by the interface that a packet came by, so one has another address on each way; the
// networks of the texts tell which addresses are of one router.
var publishedWays = []struct {
	name, from, to, lab string
	there, back         string // as the text has it
	verdict             string
}{
	// gridnm-2002, Table 1: "a slight change in path on the route back", which passes alan3.dl.ac.uk as well.
	{name: "UCL to DL and vice versa", from: "pc35", to: "rtlin1", lab: `hosts: {pc35: {}, rtlin1: {}}
routers: [ucl3, ucl2, ucl1, ulcc-gsr, london-bar1, lond-scr, read-scr, warr-scr, manchester-bar, gw-nnw, gw-dl, gw-fw, alan3]
links:
  - {between: [pc35, ucl3]}
  - {between: [ucl3, ucl2]}
  - {between: [ucl2, ucl1]}
  - {between: [ucl1, ulcc-gsr]}
  - {between: [ulcc-gsr, london-bar1]}
  - {between: [london-bar1, lond-scr]}
  - {between: [lond-scr, read-scr], delay: 1ms}
  - {between: [read-scr, warr-scr], delay: 1ms}
  - {between: [warr-scr, manchester-bar]}
  - {between: [manchester-bar, gw-nnw]}
  - {between: [gw-nnw, gw-dl]}
  - {between: [gw-dl, gw-fw]}
  - {between: [gw-fw, rtlin1]}
  - {between: [rtlin1, alan3]}
  - {between: [alan3, gw-fw]}
routes: [{at: rtlin1, to: pc35, via: alan3}]
`, there: "ucl3 ucl2 ucl1 ulcc-gsr london-bar1 lond-scr read-scr warr-scr manchester-bar gw-nnw gw-dl gw-fw rtlin1",
		back:    "alan3 gw-fw gw-dl gw-nnw manchester-bar warr-scr read-scr lond-scr london-bar1 ulcc-gsr ucl1 ucl2 ucl3 pc35",
		verdict: measure.RoutesDiffer},
	// high-performance-data-transfer-2006, nuttcp -xt: the same way there and back, of 72 ms.
	{name: "nuttcp -xt damp-nrl", from: "damp-ssc", to: "damp-nrl", lab: `hosts: {damp-ssc: {}, damp-nrl: {}}
routers: [sandiego, nrldc]
links:
  - {between: [damp-ssc, sandiego]}
  - {between: [sandiego, nrldc], delay: 36ms}
  - {between: [nrldc, damp-nrl]}
`, there: "sandiego nrldc damp-nrl", back: "nrldc sandiego damp-ssc", verdict: measure.RoutesSame},
}

var labLink = regexp.MustCompile(`between: \[([-a-z0-9]+), ([-a-z0-9]+)\]`)

// addressNames are who has which address in a lab: the ends of link number k are 10.0.k.1 and 10.0.k.2.
func addressNames(text string) map[string]string {
	names := map[string]string{}
	for k, ends := range labLink.FindAllStringSubmatch(text, -1) {
		names[fmt.Sprintf("10.0.%d.1", k)], names[fmt.Sprintf("10.0.%d.2", k)] = ends[1], ends[2]
	}
	return names
}

// A trace of both ways has the routers of published ones, and says whether they differ.
func TestPublishedWaysInLab(t *testing.T) {
	t.Parallel() // it waits more than it works
	for _, c := range publishedWays {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spec, err := lab.ParseSpec("published", []byte(c.lab))
			if err != nil {
				t.Fatal(err)
			}
			l := startLab(t, spec)
			readyOn(t, l, c.to, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
			var out bytes.Buffer
			onHost(t, l, c.from, &out, lab.Self(), "trace", c.to, "--both", "--json", "-4")
			var r measure.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Samples.Return == nil {
				t.Fatalf("%v: %s", err, out.Bytes())
			}
			names := addressNames(c.lab)
			named := func(hops []measure.Hop) string {
				var all []string
				for _, h := range hops {
					for _, a := range h.Addresses {
						all = append(all, names[a])
					}
				}
				return strings.Join(all, " ")
			}
			want := []string{c.there, c.back, c.verdict}
			got := []string{named(r.Samples.Hops), named(r.Samples.Return.Hops), r.Samples.Return.Comparison.Verdict}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("there, back, verdict (-want +got):\n%s%s", diff, r.Samples.Return.Comparison.Says)
			}
			t.Logf("there: %s\nback: %s\n%s", got[0], got[1], r.Samples.Return.Comparison.Says)
		})
	}
}

package demo

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/topology"
)

// The mesh is the network of the 2002 report (lab/topology, gridnm-2002) with five hosts more, and access links that
// two processors can fill. Three of its twelve hosts are sick on purpose, each of another cause.

// member is a host of the mesh.
type member struct {
	name, site string
	router     string // of those that the report has not: where their access link ends
	link       string // that link, if it is not as the others'
}

var members = []member{
	{name: "ucl", site: "London"},
	{name: "manchester", site: "Manchester"},
	{name: "dl", site: "Daresbury"},
	{name: "ral", site: "Didcot"},
	{name: "bristol", site: "Bristol"},
	{name: "nikhef", site: "Amsterdam"},
	{name: "cern", site: "Geneva"},
	{name: "leeds", site: "Leeds", router: "leed-scr"},
	{name: "warwick", site: "Coventry", router: "cosh-scr", link: "rate: 4mbit, delay: 1ms, queue: 100kB"},
	{name: "sara", site: "Amsterdam", router: "ar5-amsterdam"},
	{name: "surfnet", site: "Amsterdam", router: "cr1-amsterdam"},
	{name: "lyon", site: "Lyon", router: "cern-gw", link: "rate: 20mbit, delay: 1ms, loss: 2%"},
}

// illness is what ails a host of the mesh.
type illness struct{ host, what, verdict string }

var illnesses = []illness{
	{"cern", "takes 32 kB at a time only", "receive-window-limited"},
	{"lyon", "loses one packet in fifty on its access link", "random-loss"},
	{"warwick", "sits behind a line of 4 Mbit/s", "path-full"},
}

const (
	usualAccess = "rate: 20mbit, delay: 1ms" // of a host that the report has not
	// smallWindow is the receive memory that nobody raised: 25 ms away, a window a round trip is some 7 Mbit/s.
	smallWindow = `"4096 32768 32768"`
)

var (
	rates   = regexp.MustCompile(`rate: [0-9]+[mg]bit`)
	windows = regexp.MustCompile(`(cern: .*tcp_rmem: )"[^"]*"`)
)

// labOfMesh is the lab of the mesh.
func labOfMesh() (*lab.Spec, error) {
	text, err := topology.Read("gridnm-2002")
	if err != nil {
		return nil, err
	}
	spec := rates.ReplaceAllString(string(text), "rate: 20mbit")
	spec = windows.ReplaceAllString(spec, "${1}"+smallWindow)
	hosts, links := "hosts:\n", "links:\n"
	for _, h := range members {
		if h.router == "" {
			continue
		}
		h.link = cmp.Or(h.link, usualAccess)
		hosts += fmt.Sprintf("  %s:\n", h.name)
		links += fmt.Sprintf("  - {between: [%s, %s], %s}\n", h.name, h.router, h.link)
	}
	spec = strings.Replace(spec, "\nhosts:\n", "\n"+hosts, 1)
	return lab.ParseSpec("demo mesh", []byte(strings.Replace(spec, "\nlinks:\n", "\n"+links, 1)))
}

// nameIn is what the nodes of a lab are called, by address: reverse lookup knows nothing of networks that are not there.
func nameIn(plan *lab.Plan) func(context.Context, string) string {
	names := map[string]string{}
	for _, i := range plan.Interfaces {
		names[i.Address.String()], names[i.Address6.String()] = plan.Nodes[i.Node].Name, plan.Nodes[i.Node].Name
	}
	return func(_ context.Context, address string) string { return names[address] }
}

// tests are what is measured in the mesh: something every few seconds, and little of it.
const tests = `tools:
  rtt:  {probe: ping, parameters: {count: 5, interval: 100ms}}
  path: {probe: trace, parameters: {queries: 1}}
  bulk: {probe: throughput, parameters: {duration: 1s, cc: cubic}}
groups:
  all: {mesh: all}
tests:
  - {tool: rtt,  group: all, schedule: {every: 30s, sampling: poisson}}
  - {tool: path, group: all, schedule: {every: 4m}}
  - {tool: bulk, group: all, schedule: {every: 30m}}
`

// controller wants its folder, where it listens, and where its NATS server does.
const controller = `controller:
  data: %q
  listen: %q
  public: true
  labs: true
  callers: {classes: {signed-in: {duration: 2m}}, default: signed-in}
  horizon: 1h
  nats: {listen: %q}
hosts:
`

// meshFile is the mesh file. The controller stands outside of the lab; its NATS server listens where
// the agents' channels are carried to.
func meshFile(plan *lab.Plan, data, listen, nats string) string {
	file := &strings.Builder{}
	fmt.Fprintf(file, controller, data, listen, nats)
	for _, h := range members {
		node, _ := plan.NodeByName(h.name)
		fmt.Fprintf(file, "  %s: {address: %s, rate: 20mbit, site: %s}\n", h.name, plan.Address(node), h.site)
	}
	file.WriteString(tests)
	return file.String()
}

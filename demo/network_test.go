package demo

import (
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/probe"
)

// The lab is what the mesh file says, and its ways are as long as the report has them.
func TestMeshFile(t *testing.T) {
	spec, err := labOfMesh()
	if err != nil {
		t.Fatal(err)
	}
	plan := lab.NewPlan(spec)
	for _, h := range members {
		if _, there := plan.NodeByName(h.name); !there {
			t.Errorf("the lab has no %s", h.name)
		}
	}
	if window := spec.Hosts["cern"].Sysctl["net.ipv4.tcp_rmem"]; `"`+window+`"` != smallWindow {
		t.Errorf("cern's window is %s, want %s", window, smallWindow)
	}
	ways := routesOf(plan)
	if want := len(members) * (len(members) - 1); len(ways) != want {
		t.Errorf("%d ways, want %d", len(ways), want)
	}
	for pair, want := range map[[2]string]route{ // of the table in the topology's file; the last one is the sum of its links
		{"ucl", "manchester"}: {0.005, 20e6, 12}, {"dl", "ucl"}: {0.010, 20e6, 14}, {"ucl", "nikhef"}: {0.010, 20e6, 16},
		{"warwick", "lyon"}: {0.0311, 4e6, 8},
	} {
		if got := ways[pair]; got.rate != want.rate || got.hops != want.hops || got.rtt < 0.9*want.rtt || got.rtt > 1.1*want.rtt {
			t.Errorf("%s: %+v, want %+v", pair, got, want)
		}
	}
	node, _ := plan.NodeByName("cern-gw")
	for _, i := range plan.Nodes[node].Interfaces {
		if got := nameIn(plan)(t.Context(), plan.Interfaces[i].Address.String()); got != "cern-gw" {
			t.Errorf("%s is called %q, want cern-gw", plan.Interfaces[i].Address, got)
		}
	}
	file := t.TempDir() + "/mesh.yaml"
	if err := os.WriteFile(file, []byte(meshFile(plan, "data", "127.0.0.1:8080", "127.0.0.1:4222")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(file, probe.Catalogue{}); err != nil {
		t.Error(err)
	}
}

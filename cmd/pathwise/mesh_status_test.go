package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
)

// What many hosts cannot do for one reason takes one line.
func TestLacking(t *testing.T) {
	programs := fleet.MissingCapability{Kind: "command", What: "programs", Why: "no external programs"}
	six := fleet.MissingCapability{What: "ipv6", Why: "no interface has an IPv6 address beyond its link"}
	full := fleet.MissingCapability{What: "disk", Why: "no space left on device"}
	var hosts []control.Host
	for i := range 6 {
		hosts = append(hosts, control.Host{Name: fmt.Sprint("h", i), Status: &fleet.Status{Lacks: []fleet.MissingCapability{programs}}})
	}
	hosts[1].Status.Lacks = []fleet.MissingCapability{full, programs}
	hosts[2].Status.Lacks = []fleet.MissingCapability{six, six} // of two kinds
	hosts[3].Status = nil
	hosts[5].Status.Lacks = []fleet.MissingCapability{programs, six}
	hosts = append(hosts, hosts[0], hosts[4])
	want := []string{
		"h0, h1, h4, h5 and 2 more cannot: programs: no external programs",
		"h1 cannot: disk: no space left on device",
		"h2, h5 cannot: ipv6: no interface has an IPv6 address beyond its link",
	}
	if diff := cmp.Diff(want, lacking(hosts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Agents that do not know the same things take one line, which says what to do.
func TestOutOfDate(t *testing.T) {
	old := []string{"version 2 of the messages", "pathwise.result/2", "parameter family of capacity", "parameter family of ping", "owd"}
	hosts := []control.Host{{Name: "a", NotUnderstood: old}, {Name: "b"}, {Name: "c", NotUnderstood: []string{"owd"}}, {Name: "d", NotUnderstood: old}}
	want := []string{
		"a, d out of date: put the controller's build there; the agent does not know version 2 of the messages, pathwise.result/2, " +
			"parameter family of capacity, parameter family of ping and 1 more",
		"c out of date: put the controller's build there; the agent does not know owd",
	}
	if diff := cmp.Diff(want, outOfDate(hosts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

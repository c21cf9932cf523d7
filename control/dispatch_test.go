package control

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// Runs that may overlap get different ports of a host; when one is over, its port is free.
func TestSwitchboard(t *testing.T) {
	s := newSwitchboard()
	take := func(host string, from, until time.Duration) int {
		t.Helper()
		port, err := s.take(host, 5201, 5202, noon.Add(from), noon.Add(until))
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	got := []int{
		take("a", 0, 10*time.Second), take("a", 5*time.Second, 15*time.Second), take("b", 0, time.Hour),
		take("a", 10*time.Second, 20*time.Second),
	}
	if diff := cmp.Diff([]int{5201, 5202, 5201, 5201}, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	_, err := s.take("a", 5201, 5202, noon.Add(12*time.Second), noon.Add(13*time.Second))
	if err == nil || !strings.Contains(err.Error(), "5201 to 5202 of a are taken") {
		t.Errorf("third at a time: %v", err)
	}
	s.free(noon.Add(30 * time.Second))
	if n := len(s.busy["a"]); n != 0 {
		t.Errorf("%d leases kept after their end", n)
	}
}

// Each run is in its source's plan, and what it needs opened in its target's.
func TestDeal(t *testing.T) {
	light := measure.Run{ID: "1", Source: "a", Target: "b", Start: noon, SlotSeconds: 10, LimitSeconds: 20}
	heavy := measure.Run{ID: "2", Source: "b", Target: "a", Start: noon.Add(time.Minute), SlotSeconds: 10, LimitSeconds: 20,
		Responder: &measure.Responder{Kind: measure.ResponderIperf3, Port: 5201, Secret: "s"}}
	from, until := noon.Add(-time.Minute), noon.Add(time.Hour)
	plan := func(host string) *fleet.Plan {
		return &fleet.Plan{Host: host, Number: 7, Issued: noon, From: from, Until: until}
	}
	a, b := plan("a"), plan("b")
	a.Runs, b.Runs = []measure.Run{light}, []measure.Run{heavy}
	a.Opens = []fleet.Opening{{Run: "2", Source: "b", Peer: "10.0.0.2", Responder: *heavy.Responder,
		From: heavy.Start.Add(-openBefore), Until: heavy.Start.Add(20*time.Second + openAfter)}}
	got := deal([]measure.Run{light, heavy}, 7, noon, from, until, func(*measure.Run) string { return "10.0.0.2" })
	if diff := cmp.Diff(map[string]*fleet.Plan{"a": a, "b": b}, got); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
}

// Secrets are as long as iperf3's cookie, of its alphabet, and never the same.
func TestNewSecret(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		s := newSecret()
		if len(s) != secretSize || strings.Trim(s, alphabet) != "" || seen[s] {
			t.Fatalf("secret %q", s)
		}
		seen[s] = true
	}
}

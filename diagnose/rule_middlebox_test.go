package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// unscaledPath are Results of a path on which both ends offer to scale windows, and their connection does not.
func unscaledPath(peer string) []*measure.Result {
	results := with(func(p *path) { smallWindow(p); p.unscaled, p.window, p.bothScale = true, 65535, true }).results()
	for _, r := range results {
		r.Parameters["peer"] = peer
	}
	return results
}

// Between which hops the option is lost is said where SYNs showed it, and nowhere else.
func TestMiddleboxNamed(t *testing.T) {
	hops := []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.2"}}, {TTL: 2, Addresses: []string{"10.0.1.2"}}}
	for name, c := range map[string]struct {
		change measure.PacketChange
		want   string // "": nothing is said
	}{
		"between hops":        {measure.PacketChange{Field: "window scale", After: 1, By: 2}, "SYNs lose it between hop 1 (10.0.0.2) and hop 2 (10.0.1.2)."},
		"at the first hop":    {measure.PacketChange{Field: "window scale", By: 1}, "SYNs lose it between this host and hop 1 (10.0.0.2)."},
		"behind the last hop": {measure.PacketChange{Field: "window scale", After: 2, By: 3, Far: true}, "SYNs lose it between hop 2 (10.0.1.2) and carol."},
		"nobody quotes it":    {measure.PacketChange{Field: "window scale", By: 3, Far: true}, ""},
		"another field":       {measure.PacketChange{Field: "MSS", After: 1, By: 2}, ""},
	} {
		r := measure.NewResult("trace", testStart.Add(time.Minute))
		r.Target.Name, r.Parameters["middlebox"], r.Samples.Hops = "carol", true, hops
		r.Samples.Middleboxes = &measure.Middleboxes{Changes: []measure.PacketChange{c.change}}
		d := Diagnose(append(unscaledPath("pathwise"), r))
		checkFindings(t, d)
		f := d.First()
		if f == nil || f.ID != "middlebox" || strings.Contains(f.Explanation, "SYNs lose it") != (c.want != "") || !strings.Contains(f.Explanation, c.want) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// SYNs are sent once, where the option is lost on the way to a responder of ours.
func TestSYNsAreSent(t *testing.T) {
	plan := Plan(8*time.Second, measure.Forward)
	for name, c := range map[string]struct {
		results []*measure.Result
		want    bool
	}{
		"lost on the way":     {unscaledPath("pathwise"), true},
		"to an iperf3 server": {unscaledPath("iperf3"), false},
		"nothing is lost":     {returned(3), false},
	} {
		longer := Extend(plan, len(plan), c.results)
		if got := find(longer, "middlebox") >= 0; got != c.want || find(longer, "openings") >= 0 {
			t.Errorf("%s: %v", name, names(longer))
		}
		if again := Extend(longer, len(longer), c.results); len(again) > len(longer) && again[len(again)-1].Name == "middlebox" {
			t.Errorf("%s: asked twice: %v", name, names(again))
		}
	}
}

// On a real path the box is between the hops at which SYNs were quoted with the option and without.
func TestMiddleboxRecorded(t *testing.T) {
	f := Diagnose(readRecording(t, "testdata/faults/middlebox.json.gz").Results).First()
	if f == nil || f.ID != "middlebox" || !strings.Contains(f.Explanation, "SYNs lose it between hop 1 (10.0.0.2) and hop 2 (10.0.1.2).") {
		t.Errorf("%+v", f)
	}
}

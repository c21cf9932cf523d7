package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// A mesh measures a multicast group: each host of the list is a member, and each ordered pair has its Results, as its receiver told.
func TestMeshOfAGroup(t *testing.T) {
	m := startMeshLab(t, `
seed: 16
hosts: {controller: {}, a: {}, b: {}, c: {}}
routers: [r]
groups: {239.1.2.3: [a, b, c]}
links:
  - {between: [controller, r]}
  - {between: [a, r], delay: 5ms, forward: {loss: 10%}}
  - {between: [b, r], delay: 1ms, reverse: {loss: 20%}}
  - {between: [c, r], delay: 2ms}
`, `
tools: {tv: {probe: beacon, parameters: {group: 239.1.2.3, count: 100, interval: 20ms}}}
groups: {studio: {list: [a, b, c]}}
tests: [{tool: tv, group: studio, schedule: {every: 20s}}]
`)
	type fate struct{ Sent, Lost float64 }
	pairs, told := map[string]fate{}, map[string]fate{} // of all runs: as Results of their own, and as receivers told of them
	t.Cleanup(func() {
		if diff := cmp.Diff(told, pairs); t.Failed() && diff != "" {
			t.Errorf("(-receivers +Results):\n%s", diff)
		}
	})
	m.eventually("all pairs are told of, and of each run as its receiver told", func() bool {
		clear(pairs)
		clear(told)
		for _, r := range m.results() {
			switch r.Kind {
			case measure.KindMemberPair:
				f := pairs[r.Source.Name+" > "+r.Target.Name]
				pairs[r.Source.Name+" > "+r.Target.Name] = fate{f.Sent + r.Metrics[measure.SentPackets], f.Lost + r.Metrics[measure.LostPackets]}
				if r.Test != "tv@studio" || r.Tool != "tv" || r.Metrics[measure.OneWay(measure.Forward, "median")] == 0 {
					t.Errorf("of test %s, tool %s, with %v", r.Test, r.Tool, r.Metrics)
				}
			case "beacon":
				for _, p := range r.Samples.Pairs {
					if to := r.Samples.Members[p.To]; to.Self && p.Sent > 0 { // else the sender was not heard to say how many they were
						key := r.Samples.Members[p.From].Name + " > " + to.Name
						told[key] = fate{told[key].Sent + float64(p.Sent), told[key].Lost + float64(p.Sent-p.Received)}
					}
				}
			}
		}
		return len(pairs) == 6 && cmp.Equal(told, pairs) // one may be filed, and the other not yet, while they are read
	})
	if lossy := pairs["a > c"]; lossy.Lost < 1 || lossy.Lost > 0.4*lossy.Sent {
		t.Errorf("of a's packets c lost %v of %v, in truth 10 %%", lossy.Lost, lossy.Sent)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// What the command says of each flow is what the lab did to its packets: how many went, were lost, were copied, and came out of order.
func TestFlowsAgainstTruth(t *testing.T) {
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(`seed: 16
hosts: {bob: {}, carol: {}}
routers: [r]
links:
  - {between: [bob, r], rate: 1gbit, forward: {delay: 10ms, loss: 4%, reorder: {ratio: 6%, by: 25ms}}, reverse: {loss: 5%}}
  - {between: [r, carol], rate: 1gbit, forward: {duplicate: 5%}, reverse: {duplicate: 3%, reorder: {ratio: 5%, by: 30ms}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(t.Context(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	var out bytes.Buffer
	onHost(t, l, "bob", &out, lab.Self(), "flows", `seed 4
flow voice end 2s constant rate 100/s size 172 dscp ef
flow video start 200ms end 2s frames frame 6kB every 40ms size 1200
flow web end 2s poisson rate 150/s size 64x7,576x4,1400x1
flow bursts end 2s onoff on 100ms off ~100ms rate 300/s size 400
flow down reverse end 2s poisson rate 150/s size 300..1300 dscp af11
at 1s voice rate 200/s dscp af41`, "--to", "carol", "--json")
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	type fate struct{ Sent, Lost, LongestRun, Copies, Reordered int }
	want, got, all := map[int]fate{}, map[int]fate{}, fate{}
	for _, f := range r.Samples.Flows {
		if f.Arrived == nil || f.Arrived.Remarked > 0 {
			t.Fatalf("flow %s: arrivals %+v", f.Name, f.Arrived)
		}
		port := f.SourcePort // on bob, of one flow alone
		if f.Direction == measure.Reverse {
			port = f.TargetPort
		}
		got[port] = fate{f.Sent, f.Arrived.Lost, f.Arrived.LossBurstMax, f.Arrived.Duplicates, f.Arrived.Reordered}
		for _, one := range truth.Flows {
			if one.Protocol == "udp" && int(one.SourcePort) == f.SourcePort && int(one.TargetPort) == f.TargetPort {
				seen := fate{int(one.Packets), int(one.Lost), one.LossRunMax, int(one.Duplicates), int(one.Reordered)}
				want[port] = seen
				all.Lost, all.Copies, all.Reordered = all.Lost+seen.Lost, all.Copies+seen.Copies, all.Reordered+seen.Reordered
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 5 {
		t.Errorf("%d flows (-lab +flows):\n%s", len(want), diff)
	}
	if min(all.Lost, all.Copies, all.Reordered) < 10 {
		t.Errorf("%+v: the lab did too little to tell", all)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// Three members of a group each know what the lab did between any two of them, over IPv4 and IPv6.
func TestPingGroup(t *testing.T) {
	t.Parallel()
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(`seed: 16
hosts: {a: {}, b: {}, c: {}}
routers: [r]
groups: {239.1.2.3: [a, b, c], "ff15::7": [a, b, c]}
links:
  - {between: [a, r], delay: 5ms, forward: {loss: 10%}}
  - {between: [b, r], delay: 1ms, reverse: {loss: 20%}}
  - {between: [c, r], delay: 2ms, forward: {duplicate: 10%}}
`))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(t.Context(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hosts := []string{"a", "b", "c"}
	groups := []string{"239.1.2.3", "ff15::7"}
	outputs := map[[2]string]*bytes.Buffer{}
	var members sync.WaitGroup
	for _, host := range hosts {
		for _, group := range groups {
			out := &bytes.Buffer{}
			outputs[[2]string{host, group}] = out
			members.Go(func() {
				onHost(t, l, host, out, lab.Self(), "ping", "--group", group, "--name", host, "-c", "50", "-i", "20ms", "--json")
			})
		}
	}
	members.Wait()
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	for key, out := range outputs {
		var r measure.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v: %s", key, err, out.Bytes())
		}
		if r.Kind != "beacon" || r.Target.Address != key[1] {
			t.Errorf("a Result of kind %s, of group %s", r.Kind, r.Target.Address)
		}
		checkGroup(t, key, &r, truth)
	}
}

// checkGroup holds the pairs of a Result to the packets that the lab saw.
func checkGroup(t *testing.T, key [2]string, r *measure.Result, truth *lab.Truth) {
	t.Helper()
	type fate struct{ Sent, Received, Duplicates int }
	want, got := map[string]fate{}, map[string]fate{}
	name := func(address string) string {
		for _, m := range r.Samples.Members {
			if m.Address == address || m.Self && r.Source.Address == address {
				return m.Name
			}
		}
		return ""
	}
	for _, flow := range truth.Flows {
		from, to := name(flow.Source), name(flow.Target)
		if from != "" && to != "" && flow.SourcePort != flow.TargetPort { // else it is of reports
			want[from+" > "+to] = fate{int(flow.Packets), int(flow.Delivered), int(flow.Duplicates)}
		}
	}
	for _, p := range r.Samples.Pairs {
		got[r.Samples.Members[p.From].Name+" > "+r.Samples.Members[p.To].Name] = fate{p.Sent, p.Received, p.Duplicates}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 6 {
		t.Errorf("%v, %d pairs (-lab +member):\n%s\nsource %s, members %+v", key, len(want), diff, r.Source.Address, r.Samples.Members)
	}
}

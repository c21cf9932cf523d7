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

// With which marks packets arrived, each way, is what the lab's router made of them: EF became CS1 on the way there, and CS1, with which the answers
// to those left, AF11 on the way back.
func TestOWDMarks(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	spec, err := lab.ParseSpec("marks", []byte("seed: 17\nhosts: {bob: {}, carol: {}}\nrouters: {edge: {dscp: {EF: CS1, CS1: AF11}}}\nlinks:\n"+
		"  - {between: [bob, edge], delay: 2ms}\n  - {between: [edge, carol], delay: 2ms}\n"))
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
	onHost(t, l, "bob", &out, lab.Self(), "owd", "carol", "--json", "-c", "100", "-i", "5ms", "-W", "5s", "--dscp", "ef,be")
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	be, ef, cs1 := 0, 46, 8
	want := []measure.Mark{
		{Direction: measure.Forward, Sent: &be, Packets: 50}, {Direction: measure.Forward, Sent: &ef, DSCP: cs1, Packets: 50},
		{Direction: measure.Reverse, Sent: &be, Packets: 50}, {Direction: measure.Reverse, Sent: &cs1, DSCP: 10, Packets: 50},
	}
	if diff := cmp.Diff(want, r.Samples.Marks); diff != "" {
		t.Errorf("(-truth +got):\n%s", diff)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/lab"
)

// The detours of 2002 (gridnm-2002): traffic from Daresbury to London is moved from Reading to Leeds, which takes 1 ms more, and that from
// Rutherford to Bristol, a plateau of 12 ms; and back. Beside them are a pair whose flows are balanced, and one whose route flaps.
const watchedLab = `
hosts: {dl: {}, ral: {}, ucl: {}, bob: {}, carol: {}, ann: {}, eve: {}}
routers: {warrington: {}, reading: {}, leeds: {}, london: {}, bristol: {}, cosham: {}, home: {balance: flow}, left: {}, right: {}, join: {}, north: {}, up: {}, down: {}, south: {}}
links:
  - {between: [dl, warrington], delay: 1ms}
  - {between: [warrington, reading], delay: 2ms}
  - {between: [reading, london], delay: 1ms}
  - {between: [warrington, leeds], delay: 1ms}
  - {between: [leeds, london], delay: 2500us}
  - {between: [london, ucl], delay: 1ms}
  - {between: [ral, reading], delay: 1ms}
  - {between: [reading, bristol], delay: 1500us}
  - {between: [bristol, cosham], delay: 1ms}
  - {between: [cosham, london], delay: 1500us}
  - {between: [ucl, bob], delay: 1ms}
  - {between: [bob, home], delay: 1ms}
  - {between: [home, left], delay: 1ms}
  - {between: [home, right], delay: 1ms}
  - {between: [left, join], delay: 1ms}
  - {between: [right, join], delay: 1ms}
  - {between: [join, carol], delay: 1ms}
  - {between: [carol, ann], delay: 1ms}
  - {between: [ann, north], delay: 1ms}
  - {between: [north, up], delay: 1ms}
  - {between: [north, down], delay: 2ms}
  - {between: [up, south], delay: 1ms}
  - {between: [down, south], delay: 1ms}
  - {between: [south, eve], delay: 1ms}
routes:
  - {at: warrington, to: ucl, via: reading}
  - {at: london, to: dl, via: reading}
  - {at: north, to: eve, via: up}
timeline:
  - {at: 800ms, route: {at: north, to: eve, via: down}}
  - {at: 1600ms, route: {at: north, to: eve, via: up}}
  - {at: 2400ms, route: {at: north, to: eve, via: down}}
  - {at: 3200ms, route: {at: north, to: eve, via: up}}
  - {at: 4s, route: {at: north, to: eve, via: down}}
  - {at: 4800ms, route: {at: north, to: eve, via: up}}
  - {at: 2500ms, route: {at: warrington, to: ucl, via: leeds}}
  - {at: 2500ms, route: {at: london, to: dl, via: leeds}}
  - {at: 2500ms, route: {at: reading, to: ucl, via: bristol}}
  - {at: 2500ms, route: {at: bristol, to: ucl, via: cosham}}
  - {at: 2500ms, route: {at: london, to: ral, via: cosham}}
  - {at: 2500ms, route: {at: cosham, to: ral, via: bristol}}
  - {at: 4800ms, route: {at: warrington, to: ucl, via: reading}}
  - {at: 4800ms, route: {at: london, to: dl, via: reading}}
  - {at: 4800ms, route: {at: reading, to: ucl, via: london}}
  - {at: 4800ms, route: {at: london, to: ral, via: reading}}
`

// watched is what a watch of a route printed as JSON lines.
type watched struct {
	changes []analysis.Move
	turns   []analysis.Turns
	summary routeSummary
	traces  int
}

func readWatched(t *testing.T, lines []byte) (w watched) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var e struct {
			Event string
			Data  json.RawMessage
		}
		err := json.Unmarshal(line, &e)
		var m analysis.Move
		var turns analysis.Turns
		switch {
		case err != nil:
		case e.Event == "trace":
			w.traces++
		case e.Event == "change":
			err = json.Unmarshal(e.Data, &m)
			w.changes = append(w.changes, m)
		case e.Event == "turns":
			err = json.Unmarshal(e.Data, &turns)
			w.turns = append(w.turns, turns)
		case e.Event == "summary":
			err = json.Unmarshal(e.Data, &w.summary)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	return w
}

// A watch finds that traffic was moved and moved back, at which hops, and by how much the round trip grew; balanced flows and a route that flaps are
// told as such.
func TestWatchInLab(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(watchedLab))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	pairs := []string{"dl ucl", "ral ucl", "bob carol", "ann eve"}
	outs := make([]bytes.Buffer, len(pairs))
	var all sync.WaitGroup
	for i, pair := range pairs {
		from, to, _ := strings.Cut(pair, " ")
		all.Go(func() {
			argv := []string{lab.Self(), "trace", to, "--watch", "--proto", "icmp", "--every", "200ms", "--for", "6500ms", "--json"}
			if from == "bob" { // whose flows are balanced, as long as they are several
				argv = append(argv, "--new-flow")
			}
			onHost(t, l, from, &outs[i], argv...)
		})
	}
	all.Wait()
	near := func(e *analysis.Estimate, ms, within float64) bool {
		return e != nil && e.Value*1e3 > ms-within && e.Value*1e3 < ms+within && e.Low <= e.Value && e.High >= e.Value
	}
	for i, pair := range pairs[:2] {
		got := readWatched(t, outs[i].Bytes())
		before, after, step, at := 10.0, 11.0, 1.0, "10.0.1.2 > 10.0.3.2" // Reading and Leeds, as Warrington reaches them
		if pair == "ral ucl" {
			before, after, step, at = 6, 12, 6, "10.0.2.2 > 10.0.7.2" // London and Bristol, as Reading reaches them
		}
		if len(got.changes) != 2 || len(got.summary.Course.Moves) != 2 || len(got.turns) > 0 || got.traces < 20 {
			t.Errorf("%s: %d changes of %d traces, %d in all, %d turns: %s", pair, len(got.changes), got.traces, len(got.summary.Course.Moves), len(got.turns), outs[i].String())
			continue
		}
		there, back := got.summary.Course.Moves[0], got.summary.Course.Moves[1]
		hops := func(m analysis.Move) string {
			ttl := m.After.Changed[0]
			return strings.Join(slices.Concat(m.Before.At(ttl).Addresses, []string{">"}, m.After.At(ttl).Addresses), " ")
		}
		turned := strings.Join([]string{at[strings.LastIndex(at, " ")+1:], ">", at[:strings.Index(at, " ")]}, " ")
		if diff := cmp.Diff([]string{at, turned}, []string{hops(there), hops(back)}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", pair, diff)
		}
		if !near(there.DelayBefore, before, 0.5) || !near(there.DelayAfter, after, 0.5) || !near(there.Step, step, 0.4) || !near(back.Step, -step, 0.4) || there.Step.Low < 0 {
			t.Errorf("%s: delays %+v, %+v, steps %+v, %+v; want %v ms, %v ms", pair, there.DelayBefore, there.DelayAfter, there.Step, back.Step, before, after)
		}
		if lasted := there.After.Last.Sub(there.After.First).Seconds(); lasted < 1.3 || lasted > 2.8 {
			t.Errorf("%s: the detour lasted %v s, want 2.3", pair, lasted)
		}
	}
	for i, how := range []string{analysis.Balanced, analysis.Flapping} {
		got := readWatched(t, outs[2+i].Bytes()).summary.Course
		if len(got.Moves) > 0 || len(got.Turns) != 1 || got.Turns[0].How != how || !slices.Equal(got.Turns[0].TTLs, []int{2, 3}) {
			t.Errorf("%s: %d changes, turns %+v; want %s at hops 2 and 3", pairs[2+i], len(got.Moves), got.Turns, how)
		}
	}
}

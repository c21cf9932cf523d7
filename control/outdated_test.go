package control

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
)

// without are the abilities of a build that lacks a kind, or a parameter of it.
func without(kind, parameter string) *fleet.Abilities {
	can := ours()
	can.Kinds = maps.Clone(can.Kinds)
	if parameter == "" {
		delete(can.Kinds, kind)
	} else {
		can.Kinds[kind] = slices.DeleteFunc(slices.Clone(can.Kinds[kind]), func(name string) bool { return name == parameter })
	}
	return &can
}

const manyTools = `
controller: {horizon: 30m}
tools:
  rtt:   {probe: ping, parameters: {count: 5, interval: 200ms}}
  six:   {probe: ping, parameters: {count: 5, family: ipv4}}
  bulk:  {probe: throughput, parameters: {duration: 2s}}
  train: {probe: capacity}
groups: {all: {mesh: all}}
tests:
  - {tool: rtt, group: all, schedule: {every: 1m}}
  - {tool: six, group: all, schedule: {every: 1m}}
  - {tool: bulk, group: all, schedule: {every: 10m}}
  - {tool: train, group: all, schedule: {every: 10m}}
`

// What an agent's build does not know is not sent to it, is a finding of the plan, and is shown; all else goes on, and what was
// left out comes when the agent is as new as its controller.
func TestOutOfDateAgent(t *testing.T) {
	all := "bulk a b, bulk b a, rtt a b, rtt b a, six a b, six b a, train a b, train b a"
	for _, c := range []struct {
		name    string
		can     *fleet.Abilities // of b; that of a is ours
		planned string
		found   []string
		shown   []string
	}{
		{"as new", without("", ""), all, []string{}, nil},
		{"a parameter of a source", without("ping", "family"), "bulk a b, bulk b a, rtt a b, rtt b a, six a b, train a b, train b a",
			[]string{"agent of b is out of date: does not know parameter family of ping"}, []string{"parameter family of ping"}},
		{"a parameter that the mesh does not use", without("ping", "dscp"), all, []string{}, []string{"parameter dscp of ping"}},
		{"a parameter that the controller adds", without("throughput", "port"),
			"bulk a b, rtt a b, rtt b a, six a b, six b a, train a b, train b a",
			[]string{"agent of b is out of date: does not know parameter port of throughput"}, []string{"parameter port of throughput"}},
		{"a kind, as source and as target", without("capacity", ""), "bulk a b, bulk b a, rtt a b, rtt b a, six a b, six b a",
			[]string{"agent of b is out of date: does not know capacity"}, []string{"capacity"}},
		{"a kind that asks nothing of the target", without("ping", ""), "bulk a b, bulk b a, rtt a b, six a b, train a b, train b a",
			[]string{"agent of b is out of date: does not know ping"}, []string{"ping"}},
		{"a build before this was said", nil, "bulk a b, bulk b a, rtt a b, rtt b a, six a b, train a b, train b a",
			[]string{"agent of b is out of date: does not know parameter family of ping"},
			(&fleet.Status{}).Abilities().Missing(ours())},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, twoHosts+manyTools)
			report := func(host string, can *fleet.Abilities) {
				receiver{b.Control}.Heard(fleet.Status{Host: host, At: b.now, Can: can})
			}
			report("a", without("", ""))
			report("b", c.can)
			b.plan()
			b.expectWhole()
			if got := b.plannedPairs(); got != c.planned {
				t.Errorf("planned %s\nwant    %s", got, c.planned)
			}
			if diff := cmp.Diff(c.found, b.Overview().Warnings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([][]string{nil, c.shown}, [][]string{b.Hosts()[0].NotUnderstood, b.Hosts()[1].NotUnderstood}); diff != "" {
				t.Errorf("hosts (-want +got):\n%s", diff)
			}
			b.now = b.now.Add(time.Minute)
			report("a", without("", ""))
			report("b", without("", ""))
			if b.planDue() != (len(c.shown) > 0) {
				t.Errorf("a plan is due %v after what was said became another thing", b.planDue())
			}
			b.plan()
			b.expectWhole()
			if got := b.plannedPairs(); got != all {
				t.Errorf("planned then %s", got)
			}
		})
	}
}

// A run with a value that an agent's build does not know is not sent to it; one that told no values has those of the builds before.
func TestOutOfDateValue(t *testing.T) {
	const mesh = twoHosts + `
controller: {horizon: 30m}
tools:
  rtt:     {probe: ping, parameters: {count: 5}}
  connect: {probe: ping, parameters: {count: 5, proto: tcp}}
groups: {all: {mesh: all}}
tests: [{tool: [rtt, connect], group: all, schedule: {every: 1m}}]
`
	const all, less = "connect a b, connect b a, rtt a b, rtt b a", "connect a b, rtt a b, rtt b a"
	with := func(kinds map[string][]string, values map[string]map[string][]string) *fleet.Abilities {
		can := ours()
		can.Kinds, can.Values = kinds, values
		return &can
	}
	fewer := maps.Clone(ours().Values)
	fewer["ping"] = maps.Clone(fewer["ping"])
	fewer["ping"]["proto"] = []string{"icmp", "syn"}
	for _, c := range []struct {
		name    string
		can     *fleet.Abilities // of b; that of a is ours
		planned string
		shown   []string
	}{
		{"as new", without("", ""), all, nil},
		{"told no values", with(ours().Kinds, nil), all, []string{"value stamp of parameter proto of ping", "value udp of parameter proto of ping",
			"value icmp of parameter proto of trace", "value tcp of parameter proto of trace"}},
		{"told no values, before the others came", with(without("ping", "port").Kinds, nil), less,
			[]string{"parameter port of ping", "value stamp of parameter proto of ping", "value syn of parameter proto of ping",
				"value tcp of parameter proto of ping", "value udp of parameter proto of ping",
				"value icmp of parameter proto of trace", "value tcp of parameter proto of trace"}},
		{"has fewer", with(ours().Kinds, fewer), less, []string{"value stamp of parameter proto of ping",
			"value tcp of parameter proto of ping", "value udp of parameter proto of ping"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, mesh)
			receiver{b.Control}.Heard(fleet.Status{Host: "a", At: b.now, Can: without("", "")})
			receiver{b.Control}.Heard(fleet.Status{Host: "b", At: b.now, Can: c.can})
			b.plan()
			b.expectWhole()
			found := []string{}
			if c.planned == less {
				found = append(found, "agent of b is out of date: does not know value tcp of parameter proto of ping")
			}
			if got := b.plannedPairs(); got != c.planned {
				t.Errorf("planned %s\nwant    %s", got, c.planned)
			}
			if diff := cmp.Diff(found, b.Overview().Warnings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.shown, b.Hosts()[1].NotUnderstood); diff != "" {
				t.Errorf("host (-want +got):\n%s", diff)
			}
		})
	}
}

// What a target opens for a run of STAMP is told to authenticate packets where the agents of both hosts said that they can, and not where one of them did
// not say so, or a size leaves no room.
func TestSealed(t *testing.T) {
	const mesh = twoHosts + `
controller: {horizon: 30m}
tools:
  ways:  {probe: owd, parameters: {count: 5}}
  small: {probe: owd, parameters: {count: 5, size: 60}}
  rate:  {probe: throughput, parameters: {duration: 1s}}
groups: {all: {mesh: all}}
tests: [{tool: [ways, small, rate], group: all, schedule: {every: 5m}}]
`
	before := ours()
	before.Sealed = nil
	for name, c := range map[string]struct {
		can  *fleet.Abilities // of b; that of a is ours
		want map[string]bool
	}{
		"as new":                {without("", ""), map[string]bool{"ways": true, "small": false, "rate": false}},
		"of a build before":     {&before, map[string]bool{"ways": false, "small": false, "rate": false}},
		"not heard of any more": {nil, map[string]bool{"ways": false, "small": false, "rate": false}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, mesh)
			receiver{b.Control}.Heard(fleet.Status{Host: "a", At: b.now, Can: without("", "")})
			if c.can != nil {
				receiver{b.Control}.Heard(fleet.Status{Host: "b", At: b.now, Can: c.can})
			}
			b.plan()
			got := map[string]bool{}
			for _, r := range b.messaging.runs() {
				sealed, known := got[r.Tool]
				if known && sealed != r.Responder.Sealed || r.Responder.Secret == "" {
					t.Errorf("%s: %+v", r.Tool, *r.Responder)
				}
				got[r.Tool] = r.Responder.Sealed
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// plannedPairs names each test with the pairs of which runs were sent.
func (b *bench) plannedPairs() string {
	pairs := map[string]bool{}
	for _, r := range b.messaging.runs() {
		pairs[r.Tool+" "+r.Source+" "+r.Target] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(pairs)), ", ")
}

// A test on demand that an agent does not know is refused before anything is sent, with the reason.
func TestOutOfDateDemand(t *testing.T) {
	b := newBench(t, twoHosts+manyTools)
	b.plan()
	receiver{b.Control}.Heard(fleet.Status{Host: "a", Can: without("ping", "family")})
	receiver{b.Control}.Heard(fleet.Status{Host: "b", Can: without("throughput", "")})
	for _, c := range []struct {
		request Request
		want    string
	}{
		{Request{Source: "a", Target: "b", Tool: "six"}, "agent of a is out of date: does not know parameter family of ping"},
		{Request{Source: "a", Target: "b", Tool: "rtt", Parameters: map[string]any{"family": "ipv4"}}, "agent of a is out of date"},
		{Request{Source: "a", Target: "b", Tool: "bulk"}, "agent of b is out of date: does not know throughput"},
		{Request{Source: "a", Target: "b", Tool: "rtt"}, "away"}, // it is sent
	} {
		err := b.Test(t.Context(), c.request)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.request, err, c.want)
		}
	}
}

// That an agent is old is logged when it comes; that one is newer than the controller, once for each version.
func TestAgeIsTold(t *testing.T) {
	b := newBench(t, twoHosts+manyTools)
	var log bytes.Buffer
	b.config.Log = slog.New(slog.NewTextHandler(&log, nil))
	newer, results := ours(), ours()
	newer.Protocol++
	newer.Kinds = map[string][]string{"telepathy": {"depth"}}
	results.Results = "pathwise.result/9"
	for range 3 {
		for host, can := range map[string]*fleet.Abilities{"a": &newer, "b": &results, "c": nil} {
			receiver{b.Control}.Heard(fleet.Status{Host: host, Can: can})
		}
	}
	for text, want := range map[string]int{
		fmt.Sprintf("speaks=\"version %d of the messages\"", newer.Protocol): 1,
		"speaks=pathwise.result/9":                         1,
		"agent is out of date: put this build on its host": 2, // of a, which has none of our kinds, and of c
	} {
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, got, want, log.String())
		}
	}
}

// A step of a diagnosis goes without what the agent's build does not know and a diagnosis can do without, and keeps what it knows.
func TestDiagnosisByOutOfDateAgent(t *testing.T) {
	for lacks, want := range map[string][]string{"dscp": {"narrow", "path-rate"}, "path-rate": {"narrow"}, "narrow": nil} {
		b := newBench(t, twoHosts)
		receiver{b.Control}.Heard(fleet.Status{Host: "a", At: b.now, Can: without("throughput", lacks)})
		d := diagnosis{Control: b.Control, request: DiagnosisRequest{Source: "a", Target: "b"}}
		asked := d.ask(diagnose.Step{Kind: "throughput", Parameters: map[string]any{"narrow": 0.05, "path-rate": 5e7}})
		if got := slices.Sorted(maps.Keys(asked.Parameters)); !slices.Equal(got, want) {
			t.Errorf("an agent without %q is asked with %v, want %v", lacks, got, want)
		}
	}
}

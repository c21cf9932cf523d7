package fleet

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// What a Task has that an agent does not know is named, whichever part it is.
func TestUnknown(t *testing.T) {
	can := Abilities{Kinds: map[string][]string{"ping": {"count", "mode", "size"}, "host": {}},
		Values: map[string]map[string][]string{"ping": {"mode": {"loud", "quiet"}}}}
	for _, c := range []struct {
		task measure.Task
		want string
	}{
		{measure.Task{Kind: "ping"}, ""},
		{measure.Task{Kind: "ping", Parameters: map[string]any{"count": 1, "size": "x"}}, ""},
		{measure.Task{Kind: "ping", Parameters: map[string]any{"count": 1, "hue": 2, "tone": 3}}, "parameter hue of ping"},
		{measure.Task{Kind: "ping", Parameters: map[string]any{"mode": "quiet"}}, ""},
		{measure.Task{Kind: "ping", Parameters: map[string]any{"mode": "shrill"}}, "value shrill of parameter mode of ping"},
		{measure.Task{Kind: "host"}, ""},
		{measure.Task{Kind: "host", Parameters: map[string]any{"path": "/"}}, "parameter path of host"},
		{measure.Task{Kind: "telepathy", Parameters: map[string]any{"depth": 2}}, "telepathy"},
	} {
		if got := can.NotUnderstood(c.task); got != c.want {
			t.Errorf("%+v: %q, want %q", c.task, got, c.want)
		}
	}
}

// An agent is behind in what it lacks of a newer build, and ahead in what it has that this build cannot read.
func TestBehindAndAhead(t *testing.T) {
	now := Abilities{Protocol: Protocol, Results: measure.ResultSchema, Kinds: map[string][]string{"owd": {"count"}, "ping": {"count", "size"}},
		Values: map[string]map[string][]string{"ping": {"size": {"large", "small"}}}}
	with := func(change func(*Abilities)) Abilities {
		a := now
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		can    Abilities
		behind []string
		ahead  string
	}{
		"the same":        {now, nil, ""},
		"older messages":  {with(func(a *Abilities) { a.Protocol-- }), []string{"version 2 of the messages"}, ""},
		"newer messages":  {with(func(a *Abilities) { a.Protocol++ }), nil, "version 3 of the messages"},
		"older results":   {with(func(a *Abilities) { a.Results = "pathwise.result/1" }), []string{"pathwise.result/2"}, ""},
		"newer results":   {with(func(a *Abilities) { a.Results = "pathwise.result/3" }), nil, "pathwise.result/3"},
		"more parameters": {with(func(a *Abilities) { a.Kinds = map[string][]string{"owd": {"count", "x"}, "ping": {"count", "size"}} }), nil, ""},
		"fewer": {with(func(a *Abilities) { a.Kinds = map[string][]string{"ping": {"size"}} }),
			[]string{"owd", "parameter count of ping"}, ""},
		"fewer values": {with(func(a *Abilities) { a.Values = map[string]map[string][]string{"ping": {"size": {"small"}}} }),
			[]string{"value large of parameter size of ping"}, ""},
		"more values": {with(func(a *Abilities) {
			a.Values = map[string]map[string][]string{"ping": {"size": {"huge", "large", "small"}}}
		}), nil, ""},
		"any value": {with(func(a *Abilities) { a.Values = nil }), nil, ""},
	} {
		if diff := cmp.Diff(c.behind, c.can.Missing(now)); diff != "" {
			t.Errorf("%s: behind (-want +got):\n%s", name, diff)
		}
		if got := c.can.Newer(); got != c.ahead {
			t.Errorf("%s: ahead %q, want %q", name, got, c.ahead)
		}
	}
}

// A status that says nothing is of the oldest build that there is a record of, and stays so.
func TestSilentAgent(t *testing.T) {
	want := Abilities{Protocol: 1, Results: "pathwise.result/1", Kinds: map[string][]string{
		"capacity": {"port", "reverse"}, "command": {"argv", "parse", "values"}, "host": {"iface", "interval", "path"},
		"ping": {"count", "df", "dscp", "interval", "poisson", "proto", "size", "timeout", "ttl"},
		"throughput": {"bidir", "bytes", "cc", "dscp", "duration", "event-loop", "interval", "length", "mss", "nodelay", "parallel",
			"port", "proto", "rate", "reverse", "window"},
		"trace": {"max-ttl", "port", "proto", "queries", "timeout"}},
		Values: map[string]map[string][]string{"ping": {"proto": {"icmp"}}, "throughput": {"proto": {"tcp", "udp"}}, "trace": {"proto": {"udp"}}}}
	said := Abilities{Protocol: 7, Values: map[string]map[string][]string{}}
	if diff := cmp.Diff([]Abilities{want, said}, []Abilities{(&Status{}).Abilities(), (&Status{Can: &said}).Abilities()}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Builds that told their parameters and not yet what these can be had the values that came with the parameters.
func TestSilentOfValues(t *testing.T) {
	status := func(kinds map[string][]string) map[string]map[string][]string {
		return (&Status{Can: &Abilities{Kinds: kinds}}).Abilities().Values
	}
	udp, either, family := []string{"udp"}, []string{"tcp", "udp"}, []string{"ipv4", "ipv6"}
	for _, c := range []struct {
		kinds map[string][]string
		want  map[string]map[string][]string
	}{
		{map[string][]string{"ping": {"proto"}},
			map[string]map[string][]string{"ping": {"proto": {"icmp"}}, "throughput": {"proto": either}, "trace": {"proto": udp}}},
		{map[string][]string{"ping": {"family", "port", "proto"}, "mtu": {"family"}, "trace": {"family", "proto"}},
			map[string]map[string][]string{"ping": {"family": family, "proto": {"icmp", "syn", "tcp"}}, "mtu": {"family": family},
				"throughput": {"proto": either}, "trace": {"family": family, "proto": udp}}},
	} {
		if diff := cmp.Diff(c.want, status(c.kinds)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.kinds, diff)
		}
	}
}

// An agent answers traces both ways at ports that are opened for them since its build traces in rounds.
func TestNotAnswered(t *testing.T) {
	before, now := Abilities{Kinds: map[string][]string{"trace": {"both", "port"}}}, Abilities{Kinds: map[string][]string{"trace": {"both", "rounds"}}}
	both := measure.Task{Kind: "trace", Parameters: map[string]any{"both": true}}
	for _, c := range []struct {
		can  Abilities
		task measure.Task
		want string
	}{
		{before, both, "parameter both of trace as a target"},
		{before, measure.Task{Kind: "trace", Parameters: map[string]any{"middlebox": true}}, "parameter middlebox of trace as a target"},
		{now, both, ""},
		{before, measure.Task{Kind: "trace", Parameters: map[string]any{"both": false}}, ""},
		{before, measure.Task{Kind: "mtu", Parameters: map[string]any{"both": true}}, ""},
	} {
		if got := c.can.NotAnswered(c.task); got != c.want {
			t.Errorf("%+v: %q, want %q", c.task, got, c.want)
		}
	}
}

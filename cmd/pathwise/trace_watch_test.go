package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// foundRoute is a trace that found the routers of a route, which takes so long.
func foundRoute(n int, trip float64, routers ...string) *measure.Result {
	r := measure.NewResult("trace", time.Date(2026, 11, 28, 12, 0, n, 0, time.UTC))
	r.ID, r.Target.Name, r.Target.Address = fmt.Sprint(n), "carol", "10.0.5.2"
	for i, a := range append(routers, "10.0.5.2") {
		r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: i + 1, Addresses: []string{a}, RTTSeconds: []*float64{&trip}})
	}
	r.Samples.Hops[len(routers)].Reply = "echo reply"
	return r
}

// toldOf are the events of a story of traces by letter, and after which trace each was told. The story keeps so many traces.
func toldOf(seen string, most int) (lines []string, s *routeStory) {
	s = newRouteStory("carol")
	s.most = most
	for i, w := range seen {
		trip := map[rune]float64{'n': 0.010, 's': 0.011, 'w': 0.016}[w]
		for _, e := range s.add(foundRoute(i, trip, "home", string(w), "far-"+string(w))) {
			line := fmt.Sprintf("%d %s", i, e.name)
			if e.name == "change" {
				line += e.text[strings.Index(e.text, " change: ")+8:]
			}
			lines = append(lines, line)
		}
	}
	return lines, s
}

func TestRouteStory(t *testing.T) {
	const south = " hop 2: n is now s, hop 3 differs, too, as many hops, round trip 10.0 ms before, 11.0 ms after: 1.00 ms more (1.00 ms to 1.00 ms)"
	const north = " hop 2: s is now n, hop 3 differs, too, as many hops, round trip 11.0 ms before, 10.0 ms after: 1.00 ms less (1.00 ms to 1.00 ms)"
	for seen, want := range map[string][]string{
		"nnnnnn":                 {"0 route"},
		"nnnnnnssss":             {"0 route", "8 change" + south},
		"nnnnnnsnnn":             {"0 route"},
		"nnnnnnssssssnnnnnn":     {"0 route", "8 change" + south, "14 change" + north},
		"nsnnsnssnnsnssnsnn":     {"0 route", "4 turns"},
		"nnnnnnssssssnnnnnnssss": {"0 route", "8 change" + south, "14 change" + north, "20 change" + south},
	} {
		got, s := toldOf(seen, 100)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", seen, diff)
		}
		if n := strings.Count(s.summary()[0].text, "  change: "); n != strings.Count(strings.Join(want, "\n"), " change ") {
			t.Errorf("%s: the summary has %d changes: %s", seen, n, s.summary()[0].text)
		}
	}
	// What was told as a change is taken back once the route is known to flap.
	got, s := toldOf(strings.Repeat("nnnnnnnnssssssss", 3), 100)
	if text := s.summary()[0].text; got[len(got)-1] != "33 turns" || len(got) != 5 || strings.Contains(text, "  change: ") || !strings.Contains(text, "no change: flapping") {
		t.Errorf("%q; %s", got, s.summary()[0].text)
	}
}

// Whatever traces of flows come to that are balanced at two hops, a story tells it at each trace and at its end.
func TestRouteStoryOfBalancedFlows(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		s := newRouteStory("carol")
		for i := range 12 {
			s.add(foundRoute(i, 0.01, "home", []string{"a", "b"}[random.IntN(2)], []string{"c", "d"}[random.IntN(2)], "last"))
			if text := s.summary()[0].text; strings.Contains(text, "no hop differs") {
				t.Errorf("seed %d, trace %d: %s", seed, i, text)
			}
		}
	}
}

// The line of a change says what is known of those whom it changed, and nothing of those of whom nothing is.
func TestChangeSaysWhoIsKnown(t *testing.T) {
	_, s := toldOf("nnnnnnssss", 100)
	for _, c := range []struct {
		known map[string]string
		want  string
	}{
		{nil, "1.00 ms more (1.00 ms to 1.00 ms)"},
		{map[string]string{"home": "not changed"}, "1.00 ms more (1.00 ms to 1.00 ms)"},
		{map[string]string{"n": "north.example.net  [AS64500]  at Leeds, GB", "far-n": "the second that differs"},
			"1.00 ms more (1.00 ms to 1.00 ms) (n: north.example.net [AS64500] at Leeds, GB)"},
		{map[string]string{"n": "[AS64500]", "s": "[AS64510]"}, "1.00 ms more (1.00 ms to 1.00 ms) (n: [AS64500]; s: [AS64510])"},
	} {
		s.known = func(address string) string { return c.known[address] }
		if got := s.summary()[0].text; !strings.HasSuffix(got, c.want) {
			t.Errorf("%v: it says %s", c.known, got)
		}
	}
}

// A story looks closer while it does not know whether a route lasts, and lets old traces go, but not what they came to.
func TestRouteStoryGoesOn(t *testing.T) {
	for seen, want := range map[string]bool{"": true, "nnnnn": true, "nnnnnn": false, "nnnnnns": true, "nnnnnnsn": false, "nnnnnnss": true, "nnnnnnsss": false, "nnnnnnssss": false} {
		if _, s := toldOf(seen, 100); s.unsettled() != want {
			t.Errorf("%q: unsettled %v, want %v", seen, s.unsettled(), want)
		}
	}
	_, s := toldOf("nnnnnnwwwwww"+strings.Repeat("w", 100), 60)
	summary := s.summary()[0].data.(routeSummary)
	if len(s.traces) > 60 || summary.Traces != 112 || len(summary.Course.Moves) != 1 || summary.Course.Moves[0].After.Result != "6" {
		t.Errorf("%d traces of %d are kept, and %d changes", len(s.traces), summary.Traces, len(summary.Course.Moves))
	}
}

// A watch of several hosts is refused: it would be of the first alone.
func TestWatchBadCalls(t *testing.T) {
	for call, want := range map[string]string{
		"trace carol dave --watch":  `["dave"]: --watch is of one host; give one`,
		"trace carol --for 1h":      "--for: only with --watch; leave it out, or add that",
		"trace carol --watch -4 -6": "-4 -6: a watch is of one; give one of them",
	} {
		if got := refused(t, strings.Fields(call)...); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

// A watch goes on where a trace fails, tells that once, and writes all of it to its log; the trace under way when it ends does not count.
func TestRouteWatchGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for range 2 { // the log is appended to
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		var out strings.Builder
		n := 0
		w := &routeWatch{session: &session{out: &out, err: &out}, every: time.Millisecond, story: newRouteStory("carol"), log: file,
			trace: func(context.Context) (*measure.Result, error) {
				switch n++; n {
				case 3, 4:
					return nil, errors.New("network is unreachable")
				case 6:
					end()
				}
				return foundRoute(n, 0.01, "home"), nil
			}}
		if err := w.run(ctx); err != nil {
			t.Fatal(err)
		}
		file.Close()
		if text := out.String(); strings.Count(text, "network is unreachable") != 1 || !strings.Contains(text, "3 traces of the route to carol") || !strings.Contains(text, "2 traces failed") {
			t.Errorf("it says %s", text)
		}
	}
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(log)) {
		var e struct{ Event string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Event)
	}
	once := []string{"trace", "route", "trace", "failed", "trace", "summary"}
	if diff := cmp.Diff(append(once, once...), names); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}

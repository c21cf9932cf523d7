package main

import (
	"context"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// stillTrace is a trace that stands still.
type stillTrace struct {
	state  probe.LiveState
	resets int
}

func (s *stillTrace) State() probe.LiveState { return s.state }
func (s *stillTrace) Pause(on bool)          { s.state.Paused = on }
func (s *stillTrace) Reset()                 { s.resets++ }

// livePicture is what is shown of a path that loses from hop 3 on, with a router that limits its answers and one of which two answer.
func livePicture(columns, rows int) *liveScreen {
	second := func(v float64) *float64 { return &v }
	hop := func(ttl, sent, lost int, trip float64, from ...measure.HopAnswers) measure.HopRounds {
		return measure.HopRounds{TTL: ttl, Sent: sent, Lost: lost, Answered: sent - lost, LossRatio: float64(lost) / float64(sent), Last: second(trip), Best: second(trip - 1e-4),
			Mean: second(trip), Median: second(trip), Worst: second(1.1 * trip), Stddev: second(1e-4), JitterLast: second(1e-4), JitterMean: second(2e-4), JitterWorst: second(9e-4),
			JitterSmoothed: second(15e-5), From: from}
	}
	by := func(address string, packets int) measure.HopAnswers {
		return measure.HopAnswers{Address: address, Packets: packets}
	}
	recent := func(ttl int, trip float64, marks ...int) measure.Hop {
		h := measure.Hop{TTL: ttl}
		for i := range 10 {
			v := trip * (1 + float64(i%3)/10)
			h.RTTSeconds = append(h.RTTSeconds, &v)
		}
		if len(marks) > 0 {
			h.RTTSeconds[4], h.DSCP = nil, &marks[0]
		}
		return h
	}
	still := &stillTrace{state: probe.LiveState{
		Hops: []measure.Hop{recent(1, 0.002), recent(2, 0.01), recent(3, 0.03, 0), recent(4, 0.1201, 0)},
		Rounds: measure.RoundsSample{Rounds: 300, Hops: []measure.HopRounds{hop(1, 300, 0, 0.002, by("10.0.0.2", 300)), hop(2, 300, 200, 0.01, by("10.0.1.2", 100)),
			hop(3, 300, 31, 0.03, by("10.0.2.2", 140), by("10.0.2.6", 129)), hop(4, 300, 29, 0.1201, by("10.0.5.2", 271))},
			Loss: measure.PathLoss{End: 4, Reached: true, Lossy: true, After: 1, Hop: 3, By: 3, Limiting: []int{2},
				Verdict: "9.7 % of the packets (6.8 to 14 %, at 95 %) are lost from hop 3 on: hop 1 still loses fewer, and all behind it lose some, 99.9 % sure. " +
					"Hop 2 answers seldom, and forwards all the same."}}}}
	screen := terminal.Sized(io.Discard, columns, rows)
	screen.Palette = terminal.Palette{}
	l := newLiveScreen(screen, &probe.LiveTrace{}, func(context.Context, string) (string, bool) { return "", true })
	l.ctx = context.Background()
	l.trace, l.target, l.width, l.height, l.state = still, "carol", columns, rows, still.state
	return l
}

func TestLiveScreen(t *testing.T) {
	for _, c := range []struct {
		keys          string
		columns, rows int
		want          string
	}{
		{"", 100, 24, `
tracing carol, round 300
hop  host        Loss%  Snt   Last    Avg   Best   Wrst  StDev
  1  10.0.0.2      0.0  300   2.00   2.00   1.90   2.20   0.10  ▇▇█▇▇█▇▇█▇
  2  10.0.1.2     66.7  300  10.00  10.00   9.90  11.00   0.10  ▇▇█▇▇█▇▇█▇
  3  10.0.2.2     10.3  300  30.00  30.00  29.90  33.00   0.10  ▇▇█▇x█▇▇█▇ [DSCP 0]
       10.0.2.6         129
  4  10.0.5.2      9.7  300  120.1  120.1  120.0  132.1   0.10  ▇▇█▇x█▇▇█▇

9.7 % of the packets (6.8 to 14 %, at 95 %) are lost from hop 3 on: hop 1 still loses fewer, and
all behind it lose some, 99.9 % sure. Hop 2 answers seldom, and forwards all the same.
d figures  n names  p pause  r anew  h help  q quit`},
		{"dph", 64, 12, `
tracing carol, round 300, paused: p goes on
hop  host        Loss%  Snt   Last  Jttr  Javg  Jmax  Jint
  1  10.0.0.2      0.0  300   2.00  0.10  0.20  0.90  0.15
  2  10.0.1.2     66.7  300  10.00  0.10  0.20  0.90  0.15
and 3 rows more

9.7 % of the packets (6.8 to 14 %, at 95 %) are lost from hop 3
on: hop 1 still loses fewer, and all behind it lose some, 99.9
% sure. Hop 2 answers seldom, and forwards all the same.
d  other figures: round trips, jitter, sparklines    n  names o…
p  pause, and go on                                  r  begin t…
h  this help                                         q  quit`},
		{"dd", 60, 24, `
tracing carol, round 300
hop  host        Loss%  Snt   Last
  1  10.0.0.2      0.0  300   2.00  ▇▇█▇▇█▇▇█▇
  2  10.0.1.2     66.7  300  10.00  ▇▇█▇▇█▇▇█▇
  3  10.0.2.2     10.3  300  30.00  ▇▇█▇x█▇▇█▇ [DSCP 0]
       10.0.2.6         129
  4  10.0.5.2      9.7  300  120.1  ▇▇█▇x█▇▇█▇

9.7 % of the packets (6.8 to 14 %, at 95 %) are lost from
hop 3 on: hop 1 still loses fewer, and all behind it lose
some, 99.9 % sure. Hop 2 answers seldom, and forwards all
the same.
d figures  n names  p pause  r anew  h help  q quit`},
	} {
		l := livePicture(c.columns, c.rows)
		for _, key := range c.keys {
			l.press(string(key))
		}
		got := l.lines()
		for i := range got {
			got[i] = strings.TrimRight(got[i], " ")
		}
		if diff := cmp.Diff(c.want, "\n"+strings.Join(got, "\n")); diff != "" {
			t.Errorf("%q in %d columns (-want +got):\n%s", c.keys, c.columns, diff)
		}
	}
	l := livePicture(80, 24)
	if _, quit := l.press("q"); quit == nil || quit() != tea.Quit() {
		t.Error("q does not quit")
	}
	if l.press("r"); l.trace.(*stillTrace).resets != 1 {
		t.Error("r clears nothing")
	}
}

// Routers that flows pass at one hop have rows of their own, of which the one that loses packets is marked; before, it shows how far the search of them is.
func TestLiveScreenOfAllPaths(t *testing.T) {
	l := livePicture(100, 24)
	hops := l.state.Rounds.Hops
	other := hops[2]
	other.From, other.Lost, other.LossRatio = []measure.HopAnswers{{Address: "10.0.2.6", Packets: 300}}, 0, 0
	first := hops[2]
	first.From = first.From[:1]
	hops[2].Routers = []measure.RouterRounds{{HopRounds: first, Share: 0.6, Told: measure.Hop{RTTSeconds: l.state.Hops[2].RTTSeconds}}, {HopRounds: other, Share: 0.4}}
	l.state.Rounds.Ways = []measure.WayRounds{{Routers: []string{"", "", "10.0.2.2", "10.0.5.2"}, Loss: l.state.Rounds.Loss}, {Routers: []string{"", "", "10.0.2.6", "10.0.5.2"}}}
	l.state.Rounds.Loss.Hop = 0
	want := `
hop  host      Loss%  Snt   Last    Avg   Best   Wrst  StDev
  1  10.0.0.2    0.0  300   2.00   2.00   1.90   2.20   0.10  ▇▇█▇▇█▇▇█▇
  2  10.0.1.2   66.7  300  10.00  10.00   9.90  11.00   0.10  ▇▇█▇▇█▇▇█▇
  3  10.0.2.2   10.3  300  30.00  30.00  29.90  33.00   0.10  ▇▇█▇x█▇▇█▇ 60 % of flows
     10.0.2.6    0.0  300  30.00  30.00  29.90  33.00   0.10             40 % of flows
  4  10.0.5.2    9.7  300  120.1  120.1  120.0  132.1   0.10  ▇▇█▇x█▇▇█▇`
	got := l.table(l.state.Hops, &l.state.Rounds, 100)
	for i := range got {
		got[i] = strings.TrimRight(got[i], " ")
	}
	if diff := cmp.Diff(want, "\n"+strings.Join(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.Palette = terminal.Palette{Marks: true, Colors: true}
	for i, bad := range map[int]bool{2: false, 3: true, 4: false, 5: true} { // the second hop limits its answers
		if got := l.table(l.state.Hops, &l.state.Rounds, 100)[i]; strings.Contains(got, strings.Split(l.Bad("x"), "x")[0]) != bad {
			t.Errorf("row %d is marked: %v, want %v: %q", i, !bad, bad, got)
		}
	}
	l.Palette = terminal.Palette{}
	l.state = probe.LiveState{Searching: "137 packets, 6 routers and hosts so far"}
	if got := l.lines()[0]; got != "finding all paths to carol: 137 packets, 6 routers and hosts so far" {
		t.Errorf("it says %q", got)
	}
}

// What is known of a hop stands below it, its name in place of its address, until n has the address there again.
func TestLiveScreenKnows(t *testing.T) {
	for keys, want := range map[string]string{
		"": `
hop  host        Loss%  Snt   Last    Avg   Best   Wrst  StDev
  1  home          0.0  300   2.00   2.00   1.90   2.20   0.10
     [AS64500]
  2  10.0.1.2     66.7  300  10.00  10.00   9.90  11.00   0.10
  3  10.0.2.2     10.3  300  30.00  30.00  29.90  33.00   0.10  [DSCP 0]
     at Geneva, CH
       10.0.2.6         129
     [AS64510]  EXAMPLE, CH
  4  carol         9.7  300  120.1  120.1  120.0  132.1   0.10`,
		"n": `
hop  host        Loss%  Snt   Last    Avg   Best   Wrst  StDev
  1  10.0.0.2      0.0  300   2.00   2.00   1.90   2.20   0.10
     [AS64500]
  2  10.0.1.2     66.7  300  10.00  10.00   9.90  11.00   0.10
  3  10.0.2.2     10.3  300  30.00  30.00  29.90  33.00   0.10  [DSCP 0]
     at Geneva, CH
       10.0.2.6         129
     [AS64510]  EXAMPLE, CH
  4  10.0.5.2      9.7  300  120.1  120.1  120.0  132.1   0.10`,
	} {
		l := livePicture(60, 40)
		l.known = func(address string) measure.AddressInfo {
			return map[string]measure.AddressInfo{"10.0.0.2": {Name: "home", ASN: 64500}, "10.0.2.2": {Place: &measure.Place{City: "Geneva", Country: "CH"}},
				"10.0.2.6": {ASN: 64510, ASName: "EXAMPLE", Country: "CH"}, "10.0.5.2": {Name: "carol"}}[address]
		}
		l.names.find = func(_ context.Context, address string) (string, bool) { return l.known(address).Name, true }
		l.table(l.state.Hops, &l.state.Rounds, 60) // which has names looked up
		l.names.wait()
		for _, key := range keys {
			l.press(string(key))
		}
		got := l.table(l.state.Hops, &l.state.Rounds, 60)
		for i := range got {
			got[i] = strings.TrimRight(got[i], " ")
		}
		if diff := cmp.Diff(want, "\n"+strings.Join(got, "\n")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", keys, diff)
		}
	}
}

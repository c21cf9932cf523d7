package beacon

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
)

// origin is when the rosters of these tests begin to judge.
var origin = time.Unix(1_800_000_000, 0)

const me, bob, eve = ID(1), ID(2), ID(3)

// after is a moment of these tests.
func after(d time.Duration) time.Time { return origin.Add(d) }

// heard is a way here on which nothing happened to a packet.
func heard(d time.Duration) Heard {
	return Heard{From: netip.MustParseAddr("10.0.0.2"), At: after(d), TTL: 60}
}

// probe is one of ten of bob, who began to send with the test.
func probe(sequence uint32) []byte {
	p := Probe{Member: bob, Name: "bob", Sequence: sequence, Planned: 10, Interval: 100 * time.Millisecond, Began: control.TimestampOf(origin),
		Sent: control.TimestampOf(after(time.Duration(sequence) * 100 * time.Millisecond)), Error: control.EstimateOf(time.Millisecond, true), TTL: 64}
	return p.Append(nil, 100)
}

// says is a report of bob, made some time after the test began.
func says(made time.Duration, r ReceiverReport) []byte {
	r.Member, r.Name, r.Judged, r.Listening = bob, "bob", control.TimestampOf(after(made)), control.TimestampOf(origin)
	r.All = max(r.All, len(r.Blocks))
	if r.Sent > 0 {
		r.Began = control.TimestampOf(origin.Add(-time.Millisecond))
	}
	return r.Append(nil)
}

func TestRosterCounts(t *testing.T) {
	r := newRoster(me, origin)
	mine := Probe{Member: me, Name: "me", Planned: 1, Interval: time.Second, Began: 1, Sent: 1, Error: control.Unknown, TTL: 1}
	elsewhere := heard(0)
	elsewhere.From = netip.MustParseAddr("10.0.0.3")
	for _, c := range []struct {
		packet []byte
		way    Heard
	}{{probe(0), heard(0)}, {probe(1), elsewhere}, {[]byte("anything"), heard(0)}, {probe(0)[:40], heard(0)}, {mine.Append(nil, 0), heard(0)},
		{says(0, ReceiverReport{}), heard(0)}} {
		r.hear(c.packet, c.way)
	}
	if diff := cmp.Diff(Counts{Probes: 1, Reports: 1, Own: 1, Foreign: 1, Malformed: 1, Conflicts: 1}, r.counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Who is heard has figures, who is only heard of has lost all; both once they are due.
func TestRosterBlocks(t *testing.T) {
	ofEve := Block{Member: eve, Name: "eve", Age: 800 * time.Millisecond, Known: 8, Done: true}
	for name, c := range map[string]struct {
		listening time.Time
		want      Block
	}{
		"listened when she began": {after(100 * time.Millisecond), Block{Age: 2500 * time.Millisecond, Known: 8, Done: true, Final: true,
			Figures: Figures{To: 8, LossRun: 8, Hops: -1, HopsMost: -1}}},
		"came too late to judge": {after(1000 * time.Millisecond), Block{Age: 2500 * time.Millisecond, Known: 8, Done: true, Final: true,
			Figures: Figures{From: 8, To: 8, Hops: -1, HopsMost: -1}}},
	} {
		r := newRoster(me, c.listening)
		r.hear(says(time.Second, ReceiverReport{Blocks: []Block{ofEve}}), heard(time.Second))
		c.want.Member, c.want.Name = eve, "eve"
		got := r.blocks(after(2700*time.Millisecond), 0, false) // of bob there is nothing yet
		if diff := cmp.Diff([]Block{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	r := newRoster(me, origin)
	r.hear(says(time.Second, ReceiverReport{Sent: 3}), heard(time.Second)) // its probes are lost, its reports come
	r.hear(says(2*time.Second, ReceiverReport{Sent: 5}), heard(2*time.Second))
	if f := r.blocks(after(3*time.Second), 0, false)[0].Figures; f.From != 3 || f.To != 5 || f.Lost() != 2 {
		t.Errorf("by its own reports: %+v", f)
	}

	r = newRoster(me, origin)
	for i := range uint32(4) {
		r.hear(probe(i), heard(time.Duration(i)*100*time.Millisecond+10*time.Millisecond))
	}
	want := Block{Member: bob, Name: "bob", Age: 990 * time.Millisecond, Known: 4, Figures: Figures{Hops: -1, HopsMost: -1}}
	check := func(at time.Duration) {
		t.Helper()
		if diff := cmp.Diff([]Block{want}, r.blocks(after(at), 2*time.Millisecond, true)); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", at, diff)
		}
	}
	want.Figures.ClockError, want.Figures.ClockKnown = 3*time.Millisecond+1, true
	want.Figures.ClockError = r.figures(r.members[bob], after(0), 2*time.Millisecond, true).ClockError
	if e := want.Figures.ClockError; e < 3*time.Millisecond || e > 3*time.Millisecond+10*time.Microsecond {
		t.Errorf("both clocks are off by %v", e)
	}
	check(time.Second)
	r.hear(says(500*time.Millisecond, ReceiverReport{Sent: 6, Done: true}), heard(500*time.Millisecond))
	want.Age, want.Known, want.Done = 2990*time.Millisecond, 6, true
	want.Figures.To, want.Figures.Received, want.Figures.LossRun, want.Figures.Hops, want.Figures.HopsMost = 6, 4, 2, 4, 4
	want.Figures.Delay = Delay{10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond}
	want.Final = true
	check(3 * time.Second)
}

// A member leaves when those who are there have told all; it need not wait for those who are gone.
func TestRosterEnd(t *testing.T) {
	blocks := []Block{{Member: me, Name: "me"}, {Member: eve, Name: "eve"}}
	type state struct{ Complete, Told, Ready bool }
	for name, c := range map[string]struct {
		reports []ReceiverReport
		at      time.Duration
		want    state
	}{
		"sends still":           {[]ReceiverReport{{Sent: 2}}, 2 * time.Second, state{false, false, false}},
		"has ended":             {[]ReceiverReport{{Sent: 2, Done: true}}, 2 * time.Second, state{true, false, false}},
		"has ended just now":    {[]ReceiverReport{{Sent: 2, Done: true}}, 500 * time.Millisecond, state{false, false, false}},
		"is gone":               {[]ReceiverReport{{Sent: 2}}, 4 * time.Second, state{true, true, true}},
		"leaves":                {[]ReceiverReport{{Sent: 2, Leaving: true}}, 2 * time.Second, state{true, true, true}},
		"told half":             {[]ReceiverReport{{Sent: 2, Done: true, Complete: true, All: 2, Blocks: blocks[:1]}}, 2 * time.Second, state{true, false, false}},
		"told half twice":       {[]ReceiverReport{{Sent: 2, Done: true, Complete: true, All: 2, Blocks: blocks[:1]}, {Sent: 2, Done: true, Complete: true, All: 2, Blocks: blocks[:1]}}, 2 * time.Second, state{true, false, false}},
		"told all in two parts": {[]ReceiverReport{{Sent: 2, Done: true, Complete: true, All: 2, Blocks: blocks[:1]}, {Sent: 2, Done: true, Complete: true, All: 2, Blocks: blocks[1:]}}, 2 * time.Second, state{true, true, false}},
		"was told all itself":   {[]ReceiverReport{{Sent: 2, Done: true, Complete: true, Told: true, All: 2, Blocks: blocks}}, 2 * time.Second, state{true, true, true}},
	} {
		r := newRoster(me, origin)
		r.hear(probe(0), heard(0))
		for _, report := range c.reports {
			r.hear(says(200*time.Millisecond, report), heard(200*time.Millisecond))
		}
		at := after(c.at)
		got := state{r.complete(r.blocks(at, 0, false), at), r.told(at), r.ready(at)}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A report that a later one has overtaken changes nothing.
func TestOvertaken(t *testing.T) {
	r := newRoster(me, origin)
	r.hear(says(2*time.Second, ReceiverReport{Sent: 5, Blocks: []Block{{Member: me, Name: "me", Known: 7}}}), heard(2*time.Second))
	r.hear(says(time.Second, ReceiverReport{Sent: 4, Blocks: []Block{{Member: me, Name: "me", Known: 3}}}), heard(3*time.Second))
	if m := r.members[bob]; m.stream.known != 5 || m.blocks[me].Known != 7 {
		t.Errorf("%+v", m)
	}
}

// However many members are made up, what is kept is bounded, and who is heard comes before who is only heard of.
func TestRosterIsBounded(t *testing.T) {
	r := newRoster(me, origin)
	for i := range 2 * MostMembers {
		blocks := []Block{{Member: ID(1000 + i), Name: strings.Repeat("f", mostName), Known: 1}}
		r.hear(says(time.Duration(i)*time.Millisecond, ReceiverReport{Blocks: blocks}), heard(0))
	}
	if n := len(r.members); n != MostMembers || len(r.members[bob].blocks) != MostMembers {
		t.Errorf("%d members, %d blocks", n, len(r.members[bob].blocks))
	}
	p := Probe{Name: "true", Planned: 1, Interval: time.Second, Began: 1, Sent: 1, Error: control.Unknown, TTL: 1}
	for i := range 2 * MostMembers {
		p.Member = ID(10_000 + i)
		r.hear(p.Append(nil, 0), heard(0))
	}
	direct := 0
	for _, m := range r.members {
		if m.address.IsValid() {
			direct++
		}
	}
	if len(r.members) != MostMembers || direct != MostMembers || r.counts.Probes != MostMembers-1 {
		t.Errorf("%d members, %d heard, %+v", len(r.members), direct, r.counts)
	}
	r.arrivals = mostArrivals
	before := r.counts.Refused
	if r.hear(probe(0), heard(0)); len(r.members[bob].stream.arrivals) != 0 || r.counts.Refused != before+1 {
		t.Errorf("kept beyond the most: %+v", r.counts)
	}
}

// Whoever sends whatever, a member's own figures can be made, and told.
func FuzzRoster(f *testing.F) {
	f.Add(probe(0), probe(3), says(time.Second, ReceiverReport{Sent: 9, Done: true, Blocks: []Block{{Member: eve, Name: "eve", Known: 9}}}))
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		r := newRoster(me, origin)
		for i, packet := range [][]byte{a, b, c} {
			r.hear(packet, heard(time.Duration(i)*time.Second))
		}
		blocks := r.blocks(after(5*time.Second), time.Millisecond, true)
		for i := range blocks {
			if k := &blocks[i]; !k.possible() {
				t.Errorf("%+v", k)
			}
		}
		report := r.matrix(Member{ID: me, Name: "me"}, blocks)
		for _, q := range Quantities {
			report.Table(q)
		}
	})
}

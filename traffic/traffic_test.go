package traffic

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
)

const ms = time.Millisecond

// planned are all packets of a script.
func planned(t *testing.T, text string, captures Captures) (all []Packet) {
	t.Helper()
	s, err := Parse(text, captures)
	if err != nil {
		t.Fatal(err)
	}
	plan := NewPlan(s, false)
	for p, ok := plan.Next(); ok; p, ok = plan.Next() {
		all = append(all, p)
	}
	return all
}

// Each pattern that draws nothing is laid out to the packet.
func TestPlan(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Packet
	}{
		"constant": {"flow a start 10ms end 50ms constant rate 100/s size 200 dscp ef",
			[]Packet{{0, 10 * ms, 200, 46}, {0, 20 * ms, 200, 46}, {0, 30 * ms, 200, 46}, {0, 40 * ms, 200, 46}}},
		"constant by bit/s": {"flow a end 30ms constant rate 80kbit/s size 100", []Packet{{0, 0, 100, 0}, {0, 10 * ms, 100, 0}, {0, 20 * ms, 100, 0}}},
		"on and off":        {"flow a end 60ms onoff on 20ms off 10ms rate 100/s size 100", []Packet{{0, 0, 100, 0}, {0, 10 * ms, 100, 0}, {0, 30 * ms, 100, 0}, {0, 40 * ms, 100, 0}}},
		"frames": {"flow a end 41ms frames frame 2500 every 40ms size 1200",
			[]Packet{{0, 0, 1200, 0}, {0, 0, 1200, 0}, {0, 0, 100, 0}, {0, 40 * ms, 1200, 0}, {0, 40 * ms, 1200, 0}, {0, 40 * ms, 100, 0}}},
		"a change": {"flow a end 40ms constant rate 50/s size 100; at 30ms a rate 200/s size 50 dscp 8",
			[]Packet{{0, 0, 100, 0}, {0, 20 * ms, 100, 0}, {0, 30 * ms, 50, 8}, {0, 35 * ms, 50, 8}}},
		"a change of pattern": {"flow a end 30ms constant rate 100/s size 100\nat 10ms a frames frame 100 every 10ms size 60",
			[]Packet{{0, 0, 100, 0}, {0, 10 * ms, 60, 0}, {0, 10 * ms, 40, 0}, {0, 20 * ms, 60, 0}, {0, 20 * ms, 40, 0}}},
		"a capture":                  {"flow a start 5ms replay file x port 9", []Packet{{0, 5 * ms, 100, 0}, {0, 12 * ms, LeastBytes, 0}}},
		"a capture that ends sooner": {"flow a end 6ms replay file x", []Packet{{0, 0, 100, 0}}},
		"two flows":                  {"flow a end 20ms constant rate 100/s size 100 # b\nflow b start 5ms end 20ms constant rate 100/s size 50", []Packet{{0, 0, 100, 0}, {1, 5 * ms, 50, 0}, {0, 10 * ms, 100, 0}, {1, 15 * ms, 50, 0}}},
	} {
		got := planned(t, c.text, func(name string, port int) ([]Recorded, error) { return []Recorded{{0, 100}, {7 * ms, -4}}, nil })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is drawn has the mean that the script gives, is the same each time, and does not change with the flows beside it.
func TestDrawn(t *testing.T) {
	const flow = "flow a end 100s poisson rate 100/s size 64x1,128x3\n"
	alone := planned(t, "seed 9\n"+flow, nil)
	beside := planned(t, "seed 9\n"+flow+"flow b end 100s poisson rate 50/s size 40..80", nil)
	var a, b []Packet
	for _, p := range beside {
		if p.Flow == 0 {
			a = append(a, p)
		} else if b = append(b, p); p.Bytes < 40 || p.Bytes > 80 {
			t.Fatalf("%+v", p)
		}
	}
	if diff := cmp.Diff(alone, a); diff != "" {
		t.Errorf("a flow beside it changes it:\n%s", diff)
	}
	sum := 0
	for _, p := range a {
		sum += p.Bytes
	}
	if mean := float64(sum) / float64(len(a)); len(a) < 9500 || len(a) > 10500 || mean < 110 || mean > 114 || len(b) < 4600 || len(b) > 5400 {
		t.Errorf("%d and %d packets, of %.1f bytes", len(a), len(b), mean)
	}
	if other := planned(t, "seed 10\n"+flow, nil); cmp.Equal(alone, other) {
		t.Error("another seed draws the same")
	}
	spells := planned(t, "flow a end 100s onoff on ~100ms off ~300ms rate 100/s size 100", nil)
	if len(spells) < 1800 || len(spells) > 3300 {
		t.Errorf("%d packets of 2500", len(spells))
	}
}

// What is wrong is told with its line.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "it has no flow",
		"\nflaw a":                             "line 2: \"flaw\": want seed, to, flow or at",
		"seed x":                               "want a whole number",
		"to a; to b":                           "want one host",
		"flow":                                 "want a name first",
		"flow a end 1s":                        "want a pattern",
		"flow a end 1s constant":               "want rate and size",
		"flow a end":                           "want a value behind it",
		"flow a end 1s end 2s":                 "twice",
		"flow a constant poisson":              "has a pattern already",
		"flow a end 1s onoff rate 1/s size 99": "how long it is on and off",
		"flow a end 1s frames frame 1kB every 40ms":                                     "bytes of a frame",
		"flow a start 2s end 1s constant rate 1/s size 99":                              "give a later end",
		"flow a end 1s constant rate 1/s size 31":                                       "32 to 65507 bytes",
		"flow a end 1s constant rate 1/s size 99..64":                                   "the smaller size first",
		"flow a end 1s constant rate 1/s size 99x0":                                     "want a size and its weight",
		"flow a end 1s constant rate 0/s size 99":                                       "want packets a second",
		"flow a end 1s constant rate 900gbit size 99":                                   "less than",
		"flow a end 25h constant rate 1/s size 99":                                      "at most 24h",
		"flow a end 1s constant rate 1/s size 99; flow a end 1s":                        "it is there already",
		"flow a end 1s constant rate 1/s size 99; at 1s a rate 2/s":                     "before its end",
		"flow a end 1s constant rate 1/s size 99; at 1ms b rate 2/s":                    "no such flow",
		"flow a end 1s constant rate 1/s size 99; at 2ms a rate 2/s; at 1ms a rate 2/s": "after 2ms",
		"flow a end 1s constant rate 1/s size 99; at 1ms a end 2s":                      "want one of rate",
		"flow a end 1s constant rate 1/s size 99; at 1ms a poisson file x":              "want one of rate",
		"flow a end 1s constant rate 1/s size 99; at 1ms a replay file x":               "from its start",
		"flow a end 1s replay file x":                                                   "from the command line alone",
		"flow a reverse replay file x":                                                  "not in reverse",
		"flow a reverse forward end 1s":                                                 "has a way already",
		"flow a end 1s constant rate 1/s size 99; at 1ms a reverse 1":                   "want one of rate",
		"flow a end 1s replay":                                                          "want a capture for replay",
		"flow a end 1s constant rate 1/s size 99 dscp 64":                               "dscp",
		strings.Repeat("#", MostText+1):                                                 "want at most",
	} {
		_, err := Parse(text, nil)
		if !input.Bad(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

// A script's load is what its plan adds up to; the peak is of the fullest second, with headers.
func TestLoad(t *testing.T) {
	s, err := Parse("flow a end 3s constant rate 10/s size 152; at 1s a rate 20/s; at 2s a rate 5/s", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Load()
	want := Load{Flows: []FlowLoad{{35, 35 * 152}}, Packets: 35, Bytes: 35 * 152, Peak: 20 * 200 * 8}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if s, err = Parse("flow a end 2s constant rate 10/s size 152\nflow b reverse end 1s constant rate 5/s size 52", nil); err != nil {
		t.Fatal(err)
	}
	got, err = s.Load()
	want = Load{Flows: []FlowLoad{{20, 20 * 152}, {5, 5 * 52}}, Packets: 25, Bytes: 20*152 + 5*52, Peak: 10 * 200 * 8, ReversePeak: 5 * 100 * 8}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("both ways: %v (-want +got):\n%s", err, diff)
	}
	s, err = Parse("flow a end 24h constant rate 1000/s size 152", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(); !input.Bad(err) {
		t.Errorf("86 million packets: %v", err)
	}
}

// A flow that is late catches up at twice its speed, and what is too late is skipped; a frame leaves together.
func TestPacer(t *testing.T) {
	s, err := Parse("flow a end 200ms constant rate 100/s size 100", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, batch := NewPacer(s, false), make([]Leaving, 8)
	take := func(now time.Duration, want int, skipped int) {
		t.Helper()
		n := p.Take(now, batch)
		got := 0
		for _, l := range batch[:n] {
			if l.Skipped {
				got++
			}
		}
		if n != want || got != skipped {
			t.Errorf("at %v: %d packets, %d skipped, want %d, %d", now, n, got, want, skipped)
		}
	}
	take(0, 1, 0)
	take(9*ms, 0, 0)
	take(35*ms, 1, 0) // due at 10 ms
	take(39*ms, 0, 0) // the next is due at 20, and waits until 40
	take(40*ms, 1, 0)
	take(45*ms, 1, 0) // due at 30
	if at, ok := p.Ready(); !ok || at != 50*ms {
		t.Errorf("ready at %v, %v", at, ok)
	}
	take(150*ms, 2, 1) // 40 ms is too late by then, 50 is not
	if s, err = Parse("flow a end 10ms frames frame 600 every 40ms size 100", nil); err != nil {
		t.Fatal(err)
	}
	p = NewPacer(s, false)
	take(20*ms, 6, 0)
	if _, ok := p.Ready(); ok {
		t.Error("there is one more")
	}
}

// A script turned around has each flow go the other way, but for captures, which are on this host.
func TestTurn(t *testing.T) {
	const flow = " end 1s constant rate 1/s size 99\n"
	s, err := Parse("flow a"+flow+"flow b reverse"+flow+"flow c forward"+flow, nil)
	if err != nil {
		t.Fatal(err)
	}
	ways := func() (all []bool) {
		for i := range s.Flows {
			all = append(all, s.Flows[i].Reverse)
		}
		return all
	}
	if got := ways(); !cmp.Equal(got, []bool{false, true, false}) {
		t.Errorf("%v", got)
	}
	if err := s.Turn(); err != nil || !cmp.Equal(ways(), []bool{true, false, true}) || !s.Goes(false) || !s.Goes(true) {
		t.Errorf("%v, turned: %v", err, ways())
	}
	if s, err = Parse("flow a replay file x", func(string, int) ([]Recorded, error) { return []Recorded{{0, 100}}, nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Turn(); !input.Bad(err) {
		t.Errorf("a capture in reverse: %v", err)
	}
}

// Few intervals of a width that people read well cover a script.
func TestIntervals(t *testing.T) {
	for end, want := range map[time.Duration]struct {
		width time.Duration
		n     int
	}{ms: {100 * ms, 1}, 3 * time.Second: {100 * ms, 30}, 5*time.Second + 1: {200 * ms, 26}, 10 * time.Second: {200 * ms, 50}, 24 * time.Hour: {2000 * time.Second, 44}} {
		s := Script{Flows: []Flow{{End: end}}}
		if got := s.Interval(); got != want.width || s.Intervals() != want.n {
			t.Errorf("%v: %d of %v, want %d of %v", end, s.Intervals(), got, want.n, want.width)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("seed 1\nto a:1\nflow a end 1s onoff on ~1s off 1s rate 1mbit size 64..99 dscp ef\nat 1ms a frames frame 9kB every 1ms size 64x1,99x2")
	f.Add("flow a end 24h poisson rate 0.001/s size 64")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text, nil)
		if err != nil {
			return
		}
		plan, last := NewPlan(s, false), time.Duration(0)
		for range 1000 {
			p, ok := plan.Next()
			if !ok {
				return
			}
			if f := s.Flows[p.Flow]; p.Due < last || p.Due < f.Start || p.Due >= f.End || p.Bytes < LeastBytes || p.Bytes > MostBytes || p.DSCP < 0 || p.DSCP > 63 {
				t.Fatalf("%+v after %v", p, last)
			}
			last = p.Due
		}
	})
}

func BenchmarkPacer(b *testing.B) {
	s, err := Parse("flow a end 24h poisson rate 1000/s size 64..1400; flow b end 24h constant rate 1000/s size 99; flow c end 24h frames frame 12kB every 40ms size 1200", nil)
	if err != nil {
		b.Fatal(err)
	}
	p, batch := NewPacer(s, false), make([]Leaving, 1)
	for b.Loop() {
		at, ok := p.Ready()
		if !ok {
			b.Fatal("the plan is over")
		}
		p.Take(at, batch)
	}
}

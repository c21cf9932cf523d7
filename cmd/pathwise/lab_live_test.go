package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/record"
)

// fakeLab is two links whose shapes really change.
type fakeLab struct {
	links []*[2]link.Shape
	truth *lab.Truth
	said  []string // the changes that were asked for
	gone  error
}

func newFakeLab(t *testing.T) *fakeLab {
	f := &fakeLab{links: []*[2]link.Shape{{}, {}}, truth: &lab.Truth{}}
	for _, setting := range []string{"rate=100mbit", "delay=20ms", "forward.loss=0.1%"} {
		if err := f.Set("bob", "london", setting); err != nil {
			t.Fatal(err)
		}
	}
	f.said = nil
	return f
}

var fakeNames = [][2]string{{"bob", "london"}, {"london", "carol"}}

func (f *fakeLab) Set(a, b string, settings ...string) error {
	f.said = append(f.said, a+" "+b+" "+strings.Join(settings, " "))
	for i, between := range fakeNames {
		if between != [2]string{a, b} {
			continue
		}
		for _, s := range settings {
			forward, reverse, err := link.ParseSetting(s)
			if err != nil {
				return err
			}
			f.links[i][0], f.links[i][1] = f.links[i][0].Over(&forward), f.links[i][1].Over(&reverse)
		}
	}
	return nil
}

func (f *fakeLab) State() (*lab.State, error) {
	s := &lab.State{Name: "test", Nodes: []lab.NodeState{
		{Name: "bob", Kind: "host", Addresses: []string{"10.0.0.1"}}, {Name: "carol", Kind: "host", Addresses: []string{"10.0.1.2"}}}}
	for i, l := range f.links {
		s.Links = append(s.Links, lab.LinkState{Between: fakeNames[i],
			Forward: lab.ShapeState{Shape: l[0].String()}, Reverse: lab.ShapeState{Shape: l[1].String()}})
	}
	return s, f.gone
}

func (f *fakeLab) TruthOf(lab.Window) (*lab.Truth, error) { return f.truth, f.gone }

// truthAt is a truth of the fake lab: on bob > london so many packets of 1500 bytes passed and so many were lost.
func truthAt(seconds float64, delivered, lost uint64) *lab.Truth {
	t := &lab.Truth{Seconds: seconds}
	for _, between := range fakeNames {
		for _, way := range []string{"forward", "reverse"} {
			t.Links = append(t.Links, lab.LinkTruth{Between: between, Direction: way, Dropped: map[string]uint64{"loss": 0, "queue": 0}})
		}
	}
	first := &t.Links[0]
	first.Packets, first.Delivered, first.Bytes = delivered+lost, delivered, 1500*delivered
	first.Dropped["loss"] = lost
	first.Queue = lab.QueueTruth{Packets: 7, MaxPackets: 64}
	first.DelaySeconds.Median = 0.0213
	t.Links[3].EmulatorLateSeconds = 42e-6
	return t
}

// settle runs a command and those that follow from it, but for the next poll on the clock.
func settle(m tea.Model, cmd tea.Cmd) tea.Model {
	for cmd != nil {
		msg := cmd()
		if _, quit := msg.(tea.QuitMsg); quit {
			return m
		}
		m, cmd = m.Update(msg)
	}
	return m
}

// watching is the view of a fake lab that has answered once, 120 by 24 characters.
func watching(f *fakeLab) tea.Model {
	f.truth = truthAt(10, 1000, 0)
	var m tea.Model = liveModel{lab: f, width: 120, height: 24}
	return settle(m, m.(liveModel).poll(true))
}

func keyOf(name string) tea.KeyPressMsg {
	for code, special := range map[rune]string{tea.KeyUp: "up", tea.KeyDown: "down", tea.KeyTab: "tab", tea.KeyEnter: "enter",
		tea.KeyEscape: "esc", tea.KeyBackspace: "backspace"} {
		if name == special {
			return tea.KeyPressMsg{Code: code}
		}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func press(m tea.Model, keys ...string) tea.Model {
	for _, k := range keys {
		m = settle(m.Update(keyOf(k)))
	}
	return m
}

func TestLiveScreen(t *testing.T) {
	f := newFakeLab(t)
	m := watching(f)
	f.truth = truthAt(12, 1000+8000, 80) // 4000 packets/s for 2 s
	f.truth.Emulator = lab.EmulatorTruth{Bottleneck: true, Why: "it did not read 3 packets in time", LateP99: 0.002}
	flow := record.FlowTruth{Name: "tcp 10.0.0.1:4000 > 10.0.1.2:5201", Protocol: "tcp", Source: "10.0.0.1", SourcePort: 4000,
		Target: "10.0.1.2", TargetPort: 5201, Packets: 8080, LossRatio: 0.0099, RateBitsPerSecond: 48e6}
	flow.DelaySeconds.Median, flow.DelaySeconds.P99 = 0.0413, 0.0452
	f.truth.Flows = []record.FlowTruth{{Name: "others", Packets: 3}, flow}
	m = settle(m, m.(liveModel).poll(true))
	want := `lab test, up for 12.0 s, emulator late by 2.00 ms at p99
The emulator was the bottleneck: it did not read 3 packets in time

  direction             rate         now     load packets/s   queue/max  loss 5s   in all    delay late p99
> bob > london    100 Mbit/s 48.0 Mbit/s ####....      4000        7/64   0.99 %  0.881 %  21.3 ms      0 s
  london > bob    100 Mbit/s  0.00 bit/s ........         0         0/0      0 %      0 %      0 s      0 s
  london > carol    no limit  0.00 bit/s                  0         0/0      0 %      0 %      0 s      0 s
  carol > london    no limit  0.00 bit/s                  0         0/0      0 %      0 %      0 s    42 µs

link bob - london: keys change bob > london
  forward {rate: 100mbit, delay: 20ms, loss: 0.1%}
  reverse {rate: 100mbit, delay: 20ms}

  flow, last 2s                                   rate   packets     loss   median      p99
  tcp bob:4000 > carol:5201                48.0 Mbit/s      8080   0.99 %  41.3 ms  45.2 ms
  others                                             -         3      0 %      0 s      0 s


up/down select  d/D delay  l/L loss  r/R rate  b/B buffer  x down  ? all  q quit`
	if diff := cmp.Diff(want, strings.Join(m.(liveModel).lines(), "\n")); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
	content := m.View().Content
	if !strings.Contains(content, inverse+"> bob > london") || !strings.Contains(content, alarm+"The emulator") {
		t.Errorf("nothing stands out:\n%q", content)
	}
}

// Whatever the size of the terminal, nothing is drawn outside, and the selected direction and the keys can be seen.
func TestLiveScreenFits(t *testing.T) {
	f := newFakeLab(t)
	m := press(watching(f), "down", "down", "down")
	for width := 20; width <= 140; width += 20 {
		for height := 12; height <= 40; height += 4 {
			m, _ := m.Update(tea.WindowSizeMsg{Width: width, Height: height})
			lines := m.(liveModel).lines()
			for _, line := range lines {
				if n := len([]rune(line)); n > width {
					t.Errorf("%d by %d: a line of %d: %q", width, height, n, line)
				}
			}
			text := strings.Join(lines, "\n")
			if len(lines) > height || !strings.Contains(text, "> carol > lond") || !strings.Contains(text, "up/down select") {
				t.Errorf("%d by %d: %d lines:\n%s", width, height, len(lines), text)
			}
		}
	}
}

func TestLiveKeys(t *testing.T) {
	for _, c := range []struct {
		keys string // separated by spaces
		want []string
	}{
		{"D", []string{"bob london forward.delay=30ms"}},
		{"d d", []string{"bob london forward.delay=15ms", "bob london forward.delay=10ms"}},
		{"tab L", []string{"bob london reverse.loss=0.01%"}},
		{"l", []string{"bob london forward.loss=0.07%"}},
		{"space R", []string{"bob london rate=150mbit"}},
		{"r", []string{"bob london forward.rate=70mbit"}},
		{"down down r", []string{"london carol forward.rate=1gbit"}},
		{"down down R", nil}, // has no limit
		{"down down down d", []string{"london carol reverse.delay=0s"}},
		{"b", []string{"bob london forward.queue=70ms"}},
		{"x x", []string{"bob london down=true", "bob london down=false"}},
		{"up up z", nil},
		{"e l o s s = 2 % enter", []string{"bob london loss=2%"}},
		{"e q x backspace backspace d o w n = t r u e enter D", []string{"bob london down=true", "bob london forward.delay=30ms"}},
		{"e D esc", nil},
		{"e enter", nil},
		{"e l o s s = 9 9 9 enter", []string{"bob london loss=999"}},
	} {
		f := newFakeLab(t)
		press(watching(f), strings.Fields(c.keys)...)
		if diff := cmp.Diff(c.want, f.said); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.keys, diff)
		}
	}
}

// Keys that come while a change is under way go on from what it made.
func TestLiveKeysWait(t *testing.T) {
	f := newFakeLab(t)
	m, first := watching(f).Update(keyOf("D"))
	for _, k := range []string{"D", "down", "D"} {
		var cmd tea.Cmd
		if m, cmd = m.Update(keyOf(k)); cmd != nil {
			t.Errorf("%s: done at once", k)
		}
	}
	settle(m, first)
	want := []string{"bob london forward.delay=30ms", "bob london forward.delay=50ms", "bob london reverse.delay=30ms"}
	if diff := cmp.Diff(want, f.said); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestLiveSaysWhatHappened(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"D", "set bob london forward.delay=30ms"},
		{"e l o s s = 9 9 9 enter", `loss: "999": want a ratio`},
		{"down down R", "the rate has no limit"},
		{"e x y", "set bob london xy_"},
		{"?", "take the link down"},
		{"space", "keys change both ways"},
	} {
		f := newFakeLab(t)
		text := strings.Join(press(watching(f), strings.Fields(c.keys)...).(liveModel).lines(), "\n")
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.keys, c.want, text)
		}
	}
}

func TestLiveEndsWithTheLab(t *testing.T) {
	f := newFakeLab(t)
	m := watching(f)
	f.gone = errors.New("gone")
	m, cmd := m.Update(m.(liveModel).poll(false)())
	if cmd == nil || m.(liveModel).failed == nil {
		t.Error("goes on without a lab")
	}
	for _, key := range []tea.KeyPressMsg{keyOf("q"), {Code: 'c', Mod: tea.ModCtrl}} {
		if _, cmd := watching(newFakeLab(t)).Update(key); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%v: does not quit", key)
		}
	}
}

func TestLiveHistory(t *testing.T) {
	var h history
	for i := range 40 {
		h = h.with(truthAt(float64(i)/2, uint64(1000*i), 0))
	}
	if first := h[0].Seconds; first != 14.5 || h.before(lossSpan).Seconds != 14.5 || h.before(rateSpan).Seconds != 18.5 {
		t.Errorf("remembers from %v, %v before and %v before", first, h.before(lossSpan).Seconds, h.before(rateSpan).Seconds)
	}
	if h = h.with(truthAt(1, 5, 0)); len(h) != 1 { // another lab of that name
		t.Errorf("remembers %d truths of a lab that is gone", len(h))
	}
	if p := h.now(0, link.Shape{}); p.packets != 0 {
		t.Errorf("%v packets/s out of one truth", p.packets)
	}
}

func TestRung(t *testing.T) {
	for _, c := range []struct {
		from, down, up float64
	}{
		{1, 0.7, 1.5}, {1.5, 1, 2}, {7, 5, 10}, {10, 7, 15}, {23, 20, 30}, {1e9, 7e8, 1.5e9}, {0.0001, 0.00007, 0.00015}, {99, 70, 100},
	} {
		got := fmt.Sprintf("%.12g %.12g", rung(c.from, false), rung(c.from, true))
		if want := fmt.Sprintf("%.12g %.12g", c.down, c.up); got != want {
			t.Errorf("around %v: %s, want %s", c.from, got, want)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		shape    string // a setting
		step     func(link.Shape, bool) (string, error)
		down, up string
	}{
		{"loss=0.01%", stepLoss, "loss=0%", "loss=0.015%"},
		{"loss=100%", stepLoss, "loss=70%", "loss=100%"},
		{"loss={every: 100}", stepLoss, "", ""},
		{"rate=1kbit", stepRate, "rate=1kbit", "rate=1.5kbit"},
		{"rate=1.544mbit", stepRate, "rate=1.5mbit", "rate=2mbit"},
		{"queue=1p", stepQueue, "queue=1p", "queue=2p"},
		{"queue=2000B", stepQueue, "queue=1500B", "queue=3000B"},
		{"queue={limit: 50ms, codel: {}}", stepQueue, "queue={limit: 30ms, codel: {}}", "queue={limit: 70ms, codel: {}}"},
		{"queue={classes: [{name: a, default: true}]}", stepQueue, "", ""},
		{"delay=0s", stepQueue, "queue=70ms", "queue=150ms"},
	} {
		shape, _, err := link.ParseSetting(c.shape)
		if err != nil {
			t.Fatal(err)
		}
		down, _ := c.step(shape, false)
		up, _ := c.step(shape, true)
		if down != c.down || up != c.up {
			t.Errorf("%s: %q and %q, want %q and %q", c.shape, down, up, c.down, c.up)
		}
		for _, setting := range []string{down, up} {
			if setting == "" {
				continue
			}
			if _, _, err := link.ParseSetting(setting); err != nil {
				t.Errorf("%s: %v", setting, err)
			}
		}
	}
}

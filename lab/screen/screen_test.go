package screen

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
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

// watching is the screen of a fake lab that has answered once, 120 by 24 characters.
func watching(f *fakeLab) tea.Model {
	f.truth = truthAt(10, 1000, 0)
	var m tea.Model = model{lab: f, width: 120, height: 24}
	return settle(m, m.(model).poll(true))
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

func TestEndsWithTheLab(t *testing.T) {
	f := newFakeLab(t)
	m := watching(f)
	f.gone = errors.New("gone")
	m, cmd := m.Update(m.(model).poll(false)())
	if cmd == nil || m.(model).failed == nil {
		t.Error("goes on without a lab")
	}
	for _, key := range []tea.KeyPressMsg{keyOf("q"), {Code: 'c', Mod: tea.ModCtrl}} {
		if _, cmd := watching(newFakeLab(t)).Update(key); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%v: does not quit", key)
		}
	}
}

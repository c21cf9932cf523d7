package screen

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

func TestKeys(t *testing.T) {
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
func TestKeysWait(t *testing.T) {
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

func TestSaysWhatHappened(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"D", "set bob london forward.delay=30ms"},
		{"e l o s s = 9 9 9 enter", `loss: "999": want a ratio`},
		{"down down R", "the rate has no limit"},
		{"e x y", "set bob london xy_"},
		{"?", "take the link down"},
		{"space", "keys change both ways"},
	} {
		f := newFakeLab(t)
		text := strings.Join(press(watching(f), strings.Fields(c.keys)...).(model).lines(), "\n")
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.keys, c.want, text)
		}
	}
}

package screen

import (
	"fmt"
	"testing"

	"github.com/pathwise-net/pathwise/lab/link"
)

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

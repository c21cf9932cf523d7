package analysis

import (
	"slices"
	"testing"
	"time"
)

// A pair is as usual only where its past tells what is usual.
func TestKnown(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	delays := func(hours int) Watched {
		var all []Spell
		for h := hours; h >= 0; h-- {
			all = append(all, Spell{From: now.Add(-time.Duration(h) * time.Hour), Length: time.Hour, Window: Window{Value: 0.02, Low: 0.0199, High: 0.0201, Runs: 30}})
		}
		return Watched{Source: "a", Target: "b", Spells: map[Aspect][]Spell{Delayed: all}}
	}
	h := Judge([]Watched{delays(23), delays(0), {Source: "b", Target: "c"}})
	if want := []bool{true, false, false}; !slices.Equal(h.Known, want) || h.Looked != 1 || len(h.Troubles) != 0 {
		t.Errorf("known %v, %d looked at, %d troubles; want %v", h.Known, h.Looked, len(h.Troubles), want)
	}
}

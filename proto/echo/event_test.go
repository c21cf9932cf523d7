package echo

import (
	"testing"
	"time"
)

func TestCounts(t *testing.T) {
	var c Counts
	if c.Mean() != 0 || c.Stddev() != 0 {
		t.Errorf("of nothing: mean %v, deviation %v", c.Mean(), c.Stddev())
	}
	for _, rtt := range []time.Duration{2, 4, 4, 4, 5, 5, 7, 9} {
		c.add(Event{Fate: Sent})
		c.add(Event{Fate: Answered, RTT: rtt * ms})
	}
	for _, f := range []Fate{Sent, Sent, Lost, Refused, Duplicate} {
		c.add(Event{Fate: f})
	}
	// The squares of the distances from the mean, 5, add up to 32; 32/7 = 4.571.
	if c.Mean() != 5*ms || c.Stddev().Round(time.Microsecond) != 2138*time.Microsecond {
		t.Errorf("mean %v, deviation %v; want 5ms, 2.138ms", c.Mean(), c.Stddev())
	}
	c.squares = 0
	if want := (Counts{Sent: 10, Answered: 8, Lost: 1, Refused: 1, Duplicates: 1, Least: 2 * ms, Most: 9 * ms, Sum: 40 * ms}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

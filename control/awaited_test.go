package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// A run is missed once its limit and the grace are over without a Result, and once only.
func TestAwaitedRuns(t *testing.T) {
	run := func(id string, start time.Duration) measure.Run {
		return measure.Run{ID: id, Start: noon.Add(start), SlotSeconds: 10, LimitSeconds: 20}
	}
	a, b, c, d := run("a", 0), run("b", time.Second), run("c", 2*time.Second), run("d", time.Hour)
	l := newAwaitedRuns()
	l.expect([]measure.Run{d, c, b, a})
	l.expect([]measure.Run{a}) // again, as of a later plan
	l.came("b")
	l.withdraw([]string{"c"})
	due := noon.Add(20*time.Second + grace)
	if got := l.missed(due); got != nil {
		t.Errorf("missed at the very moment: %v", got)
	}
	if diff := cmp.Diff([]measure.Run{a}, l.missed(due.Add(time.Minute))); diff != "" {
		t.Errorf("missed (-want +got):\n%s", diff)
	}
	if got := l.missed(due.Add(time.Minute)); got != nil {
		t.Errorf("missed twice: %v", got)
	}
	if n := l.waiting(); n != 1 {
		t.Errorf("%d runs awaited, want the one of an hour later", n)
	}
}

package echo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlan(t *testing.T) {
	const ms = time.Millisecond
	p := plan{targets: 4, interval: 100 * ms, count: 2}
	var due []time.Duration
	for number := uint64(0); !p.ended(number); number++ {
		due = append(due, p.due(number))
		if sequence, place := p.parts(number); p.number(sequence, place) != number {
			t.Errorf("%d: %d, %d", number, sequence, place)
		}
	}
	want := []time.Duration{0, 25 * ms, 50 * ms, 75 * ms, 100 * ms, 125 * ms, 150 * ms, 175 * ms}
	if diff := cmp.Diff(want, due); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	p.slip(1, 35*ms)
	if p.due(1) != 25*ms {
		t.Error("10 ms late: it slipped")
	}
	p.slip(1, 65*ms)
	if p.due(1) != 65*ms || p.due(2) != 90*ms {
		t.Errorf("40 ms late: the next at %v and %v, want 65ms and 90ms", p.due(1), p.due(2))
	}
	// A year of hours, with as many targets as there may be.
	long := plan{targets: MostTargets, interval: time.Hour}
	if number := long.number(365*24, MostTargets-1); long.due(number) != 365*24*time.Hour+time.Hour-time.Hour/MostTargets-1 {
		t.Errorf("after a year at %v", long.due(number))
	}
}

package probe

import (
	"testing"
	"time"
)

// When an answer left is told in a later one: mostly the next, at times before it came itself, of one that never comes not at all. Counts that nobody
// asks for do not pile up.
func TestDepartures(t *testing.T) {
	var d departures
	at := time.Unix(1_000_000_000, 0)
	came := func(index int, count uint32, want time.Time) {
		t.Helper()
		if left, told := d.came(index, count); left != want || told == want.IsZero() {
			t.Errorf("packet %d: %v, %v; want %v", index, left, told, want)
		}
	}
	told := func(count uint32, want int) {
		t.Helper()
		if index, came := d.tell(departure{count, at}); came != (want >= 0) || came && index != want {
			t.Errorf("count %d: packet %d, %v; want %d", count, index, came, want)
		}
	}
	none := time.Time{}
	came(0, 0, none)
	told(0, 0)
	told(0, -1) // it was told
	came(2, 1, none)
	told(2, -1) // it is late
	told(1, 2)
	came(3, 2, at)
	if index, came := d.tell(departure{}); came {
		t.Errorf("of nothing told: packet %d", index)
	}
	for i := range uint32(3 * mostDepartures) {
		d.came(int(i), 10+i)
		d.tell(departure{1_000_000 + i, at})
	}
	if len(d.answered) > mostDepartures || len(d.told) > mostDepartures {
		t.Errorf("%d and %d are kept", len(d.answered), len(d.told))
	}
}

// An answer does not leave before it is made: such a time is by another clock.
func TestLeave(t *testing.T) {
	made := time.Unix(1_000_000_000, 0)
	for by, want := range map[time.Duration]time.Duration{20 * time.Microsecond: 20 * time.Microsecond, -time.Microsecond: 0} {
		p := owdPacket{reflection: reflection{answered: made}}
		if p.leave(made.Add(by)); p.answered != made.Add(want) {
			t.Errorf("left %v later: %v", by, p.answered.Sub(made))
		}
	}
}

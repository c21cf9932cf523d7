package schedule

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // for a machine that has no zones
)

// TestVerify: each fault that a plan could have is seen. Without this, a plan without conflicts would mean nothing.
func TestVerify(t *testing.T) {
	m := Mesh{Interfaces: hosts(6), Sites: []Site{{Name: "s", AtOnce: 1}}, Tests: []Test{
		bulk("b", full(0, 6), 10, time.Hour), lightTest("l", full(0, 3), 10, time.Hour)}}
	m.Interfaces[0].Site, m.Interfaces[1].Site = "s", "s"
	lunch := Weekly([]time.Weekday{6}, 12*time.Hour, 13*time.Hour, time.UTC)
	m.Closures = []Closure{{Hosts: []string{"h5"}, Text: "noon", Hours: lunch}}
	at := func(seconds float64, test int32, pair Pair) Run {
		return Run{Start: midnight.UnixNano() + int64(seconds*1e9), Duration: 10 * time.Second, Test: test, Pair: pair}
	}
	const noon = 12 * 3600
	for _, c := range []struct {
		name string
		runs []Run
		want int
	}{
		{"beside each other", []Run{at(0, 0, Pair{2, 3}), at(0, 0, Pair{4, 5})}, 0},
		{"one after the other", []Run{at(0, 0, Pair{2, 3}), at(11, 0, Pair{3, 2})}, 0},
		{"within the guard", []Run{at(0, 0, Pair{2, 3}), at(10.5, 0, Pair{3, 4})}, 1},
		{"source busy", []Run{at(0, 0, Pair{2, 3}), at(5, 0, Pair{2, 4})}, 1},
		{"both busy", []Run{at(0, 0, Pair{2, 3}), at(5, 0, Pair{3, 2})}, 2},
		{"light ones share", []Run{at(0, 0, Pair{1, 2}), at(5, 1, Pair{1, 2}), at(5, 1, Pair{2, 1})}, 0},
		{"site full", []Run{at(0, 0, Pair{0, 2}), at(5, 0, Pair{3, 1})}, 1},
		{"within the site", []Run{at(0, 0, Pair{0, 1}), at(5, 0, Pair{2, 3})}, 0},
		{"site free again", []Run{at(0, 0, Pair{0, 2}), at(11, 0, Pair{3, 1})}, 0},
		{"closed", []Run{at(noon, 0, Pair{2, 5})}, 1},
		{"closed before it ends", []Run{at(noon-5, 0, Pair{5, 2})}, 1},
		{"closed just after it ends", []Run{at(noon-10, 0, Pair{5, 2})}, 0},
		{"open again", []Run{at(noon+3600, 0, Pair{2, 5})}, 0},
		{"no such pair", []Run{at(0, 1, Pair{4, 3})}, 1},
		{"out of order", []Run{at(20, 0, Pair{2, 3}), at(0, 0, Pair{2, 3})}, 1},
		{"on demand", []Run{at(0, none, Pair{2, 3}), at(5, 0, Pair{3, 4})}, 1},
	} {
		if got := Verify(m, slices.Values(c.runs)); len(got) != c.want {
			t.Errorf("%s: %d conflicts, want %d: %v", c.name, len(got), c.want, got)
		}
	}
}

func TestWeekly(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	workdays := []time.Weekday{1, 2, 3, 4, 5}
	office := Weekly(workdays, 9*time.Hour, 17*time.Hour, paris)
	night := Weekly([]time.Weekday{6}, 22*time.Hour, 6*time.Hour, paris)
	allDay := Weekly([]time.Weekday{0}, 0, 0, paris)
	at := func(month time.Month, day, hour, minute int) time.Time {
		return time.Date(2026, month, day, hour, minute, 0, 0, paris)
	}
	for _, c := range []struct {
		name   string
		hours  Hours
		at     time.Time
		closed bool
		until  time.Time
	}{
		{"before the office opens", office, at(11, 23, 8, 0), false, at(11, 23, 9, 0)},
		{"as it opens", office, at(11, 23, 9, 0), true, at(11, 23, 17, 0)},
		{"as it shuts", office, at(11, 23, 17, 0), false, at(11, 24, 9, 0)},
		{"at the weekend", office, at(11, 21, 12, 0), false, at(11, 23, 9, 0)},
		{"in the evening", night, at(11, 21, 23, 0), true, at(11, 22, 6, 0)},
		{"after midnight", night, at(11, 22, 5, 59), true, at(11, 22, 6, 0)},
		{"the next week", night, at(11, 22, 6, 0), false, at(11, 28, 22, 0)},
		{"all day", allDay, at(11, 22, 12, 0), true, at(11, 23, 0, 0)},
		{"a night of 7 hours", night, at(3, 28, 23, 0), true, at(3, 29, 6, 0)},
	} {
		closed, until := c.hours(c.at)
		if closed != c.closed || !until.Equal(c.until) {
			t.Errorf("%s: %v until %v, want %v until %v", c.name, closed, until, c.closed, c.until)
		}
	}
}

// TestGrid: cycles follow each other without a gap, of every sort of grid.
func TestGrid(t *testing.T) {
	leap := func(after time.Time) time.Time { // each 29 February
		for y := after.UTC().Year(); ; y++ {
			if day := time.Date(y, 2, 29, 0, 0, 0, 0, time.UTC); day.Month() == 2 && day.After(after) {
				return day
			}
		}
	}
	last := func(after time.Time) time.Time { // once, and never again
		if after.Before(midnight) {
			return midnight
		}
		return time.Time{}
	}
	now := midnight.UnixNano()
	grids := map[string]grid{"periodic": {every: 7 * time.Minute}, "leap days": {next: leap}, "once": {next: last}}
	for name, g := range grids {
		c, ok := g.at(now + 1)
		if !ok || c.start > now+1 || c.end <= now+1 {
			t.Errorf("%s: cycle %v, %v", name, c, ok)
		}
		if next, ok := g.after(c); ok != (c.end != never) || ok && (next.start != c.end || next.number == c.number) {
			t.Errorf("%s: %v follows %v", name, next, c)
		}
	}
	if _, ok := (&grid{next: last}).at(now - 1); ok {
		t.Error("a cycle before the first")
	}
	if n := floorDiv(-1, 10); n != -1 {
		t.Errorf("floorDiv(-1, 10) is %d", n)
	}
}

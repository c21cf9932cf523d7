package archive

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A span must be divided so that the pieces follow each other, and each is of the coarsest level that fits and is kept.
func TestPieces(t *testing.T) {
	base := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC).UnixNano()
	at := func(d time.Duration) int64 { return base + int64(d) }
	const h, m, s = time.Hour, time.Minute, time.Second
	always := func(int, int64) bool { return true }
	// points for a day, minutes for none, 5 minutes for two days, hours and days for good
	kept := func(level int, since int64) bool {
		return level > 1 || level == 1 && since >= at(-24*h) || level == pointsLevel && since >= at(0)
	}
	for _, c := range []struct {
		name     string
		from, to time.Duration
		reaches  func(int, int64) bool
		want     []piece
	}{
		{"a day", 0, 24 * h, always, []piece{{3, at(0), at(24 * h)}}},
		{"an hour", 3 * h, 4 * h, always, []piece{{2, at(3 * h), at(4 * h)}}},
		{"no full second", 1, 2, always, []piece{{pointsLevel, at(1), at(2)}}},
		{"all levels", -2*h - 7*m - s, 24*h + 3*h + 11*m + s, always, []piece{
			{pointsLevel, at(-2*h - 7*m - s), at(-2*h - 7*m)}, {0, at(-2*h - 7*m), at(-2*h - 5*m)},
			{1, at(-2*h - 5*m), at(-2 * h)},
			{2, at(-2 * h), at(0)}, {3, at(0), at(24 * h)}, {2, at(24 * h), at(27 * h)}, {1, at(27 * h), at(27*h + 10*m)},
			{0, at(27*h + 10*m), at(27*h + 11*m)}, {pointsLevel, at(27*h + 11*m), at(27*h + 11*m + s)}}},
		{"fine enough", h, h + 5*m, kept, []piece{{1, at(h), at(h + 5*m)}}},
		{"minutes are not kept", h, h + 6*m, kept, []piece{{1, at(h), at(h + 5*m)}, {pointsLevel, at(h + 5*m), at(h + 6*m)}}},
		{"nothing fine is kept so far back", -50*h + m, 90 * m, kept, []piece{
			{2, at(-50*h + m), at(-49 * h)}, {2, at(-49 * h), at(-48 * h)}, {3, at(-48 * h), at(0)}, {2, at(0), at(h)},
			{1, at(h), at(90 * m)}}},
		{"nothing", 0, 0, always, nil},
	} {
		got := pieces(at(c.from), at(c.to), c.reaches)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(piece{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestKnowsAll(t *testing.T) {
	v := &view{generation: 5}
	for at, want := range map[progress]bool{{3, 0}: true, {3, 9}: true, {4, 0}: true, {4, 1}: false, {5, 0}: false} {
		if got := v.knowsAll(at); got != want {
			t.Errorf("%+v: %v, want %v", at, got, want)
		}
	}
}

func TestHistory(t *testing.T) {
	var h history
	holds := func(since, from, to int64) bool { return h.holds(since, from*day, to*day) }
	h.begin()
	h.changed(10*day + 5)
	first := h.now
	h.begin()
	h.changed(20 * day)
	h.changed(21 * day)
	for _, c := range []struct {
		since, from, to int64
		want            bool
	}{
		{first, 10, 11, true}, {first, 0, 20, true}, {first, 20, 21, false}, {first, 0, 100, false}, {first, 15, 21, false},
		{0, 10, 11, false}, {0, 11, 20, true}, {h.now, 0, 100, true},
	} {
		if got := holds(c.since, c.from, c.to); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if !h.holds(first, 10*day, 20*day) || h.holds(first, 10*day, 20*day+1) {
		t.Error("the end of a span is not what counts")
	}
	now := h.now
	for d := range int64(mostDays + 1) {
		h.begin()
		h.changed(d * day)
	}
	if len(h.days) > mostDays || holds(now, 5000, 6000) {
		t.Errorf("%d days are told apart", len(h.days))
	}
	h.changedAll()
	if holds(h.now-1, 10, 11) || !holds(h.now, 10, 11) {
		t.Error("a change of everything is not noted")
	}
}

package quantity

import (
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-20T09:00:00Z": now.Add(-time.Hour), "2026-11-20T11:00:00.5+02:00": now.Add(-time.Hour + time.Second/2), "-2h": now.Add(-2 * time.Hour), "-1d": now.Add(-24 * time.Hour), "-0s": now,
	} {
		if m, err := ParseMoment(text); err != nil || !m.At(now).Equal(want) || m.IsZero() {
			t.Errorf("%s: %v, %v, want %v", text, m.At(now), err, want)
		}
	}
	for _, bad := range []string{"", "-", "yesterday", "2h", "--2h", "2026-11-20"} {
		if m, err := ParseMoment(bad); err == nil || !m.IsZero() {
			t.Errorf("%q: %v", bad, m)
		}
	}
	if !(Moment{}).At(now).IsZero() {
		t.Error("no moment is a time")
	}
}

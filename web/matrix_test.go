package web

import (
	"testing"
	"time"
)

// Between many hosts a matrix is of whole hours, and its past of whole days; between few, of what was asked for.
func TestMatrixSpans(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	const hour, week = time.Hour, 7 * 24 * time.Hour
	to := at("2026-11-22T16:07:30+01:00")
	for _, c := range []struct {
		hosts            int
		within           time.Duration
		from, end        string
		pastFrom, pastTo string
	}{
		{200, hour, "2026-11-22T14:00:00Z", "2026-11-22T16:00:00Z", "2026-11-15T00:00:00Z", "2026-11-22T00:00:00Z"},
		{200, hour / 4, "2026-11-22T14:50:00Z", "2026-11-22T15:07:30Z", "2026-11-15T00:00:00Z", "2026-11-22T00:00:00Z"},
		{5, hour, "2026-11-22T14:05:00Z", "2026-11-22T15:07:30Z", "2026-11-15T14:05:00Z", "2026-11-22T14:05:00Z"},
	} {
		from, end := matrixSpan(to, c.within, c.hosts)
		pastFrom, pastTo := pastSpan(from, week, c.hosts)
		got := [...]time.Time{from, end, pastFrom, pastTo}
		if want := [...]time.Time{at(c.from), at(c.end), at(c.pastFrom), at(c.pastTo)}; got != want {
			t.Errorf("%v of %d hosts: %v, want %v", c.within, c.hosts, got, want)
		}
	}
}

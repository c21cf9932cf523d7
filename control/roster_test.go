package control

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
)

// A host is here while its reports come, and away when three did not.
func TestRoster(t *testing.T) {
	r := newRoster()
	if r.here("a", noon) {
		t.Error("here before its first report")
	}
	lacks := []fleet.MissingCapability{{What: "ipv6"}}
	for i, c := range []struct {
		at          time.Duration
		lacks       []fleet.MissingCapability
		back, other bool
	}{
		{0, nil, true, false}, {fleet.StatusEvery / 2, lacks, false, true}, {fleet.StatusEvery, lacks, false, false},
	} {
		back, other := r.note(fleet.Status{Host: "a", Can: without("", ""), Lacks: c.lacks}, noon.Add(c.at))
		if back != c.back || other != c.other {
			t.Errorf("report %d: back %v, other %v", i, back, other)
		}
	}
	last := noon.Add(fleet.StatusEvery)
	if !r.here("a", last.Add(awayAfter)) || r.here("a", last.Add(awayAfter+1)) {
		t.Error("not away exactly after awayAfter")
	}
	if back, _ := r.note(fleet.Status{Host: "a"}, last.Add(time.Hour)); !back {
		t.Error("coming back is no news")
	}
	for _, c := range []struct {
		start, now time.Duration
		want       string
	}{
		{time.Hour, time.Hour, "a is there and sent no result"},
		{time.Hour - 1, time.Hour, "a was away, or not known to be there, until 2026-11-20T13:00:10Z"},
		{time.Hour, 2 * time.Hour, "a is away since 2026-11-20T13:00:10Z"},
	} {
		if got := r.why("a", last.Add(c.start), last.Add(c.now)); got != c.want {
			t.Errorf("%v: %q, want %q", c.now, got, c.want)
		}
	}
}

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
	lacks := []fleet.Lack{{What: "ipv6"}}
	for i, c := range []struct {
		at          time.Duration
		lacks       []fleet.Lack
		back, other bool
	}{
		{0, nil, true, false}, {fleet.StatusEvery / 2, lacks, false, true}, {fleet.StatusEvery, lacks, false, false},
	} {
		back, other := r.note(fleet.Status{Host: "a", Lacks: c.lacks}, noon.Add(c.at))
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
	for when, want := range map[time.Time]string{
		last.Add(time.Hour):     "a is there and sent no result",
		last.Add(2 * time.Hour): "a is away since 2026-11-20T13:00:10Z",
	} {
		if got := r.why("a", when); got != want {
			t.Errorf("at %v: %q, want %q", when, got, want)
		}
	}
}

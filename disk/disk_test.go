package disk

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What is written goes before what is read, and small blocks go past the cache where that can be done.
func TestPlan(t *testing.T) {
	names := func(all []Rate) (names []string) {
		for _, r := range all {
			names = append(names, r.What())
		}
		return names
	}
	want := []string{"write", "read", "direct write", "direct read", "direct write at random", "direct read at random"}
	if diff := cmp.Diff(want, names(plan(true))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = []string{"write", "read", "write at random", "read at random"}
	if diff := cmp.Diff(want, names(plan(false))); diff != "" {
		t.Errorf("without direct access (-want +got):\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		free       int64
		give, want Limits
	}{
		{4 << 30, Limits{}, Limits{512 << 20, 3 * time.Second}},
		{5 << 20, Limits{}, Limits{2 << 20, 3 * time.Second}},
		{1 << 20, Limits{}, Limits{0, 3 * time.Second}},
		{4 << 30, Limits{10<<20 + 7, time.Second}, Limits{10 << 20, time.Second}},
	} {
		if got := c.give.withDefaults(c.free); got != c.want {
			t.Errorf("%+v with %d free: %+v, want %+v", c.give, c.free, got, c.want)
		}
	}
}

func TestRate(t *testing.T) {
	r := Rate{Block: Small, Bytes: 1 << 20, Seconds: 0.5}
	if r.BitsPerSecond() != 16<<20 || r.PerSecond() != 512 {
		t.Errorf("%g bit/s, %g a second", r.BitsPerSecond(), r.PerSecond())
	}
	if none := (Rate{Bytes: 1}); none.BitsPerSecond() != 0 || none.PerSecond() != 0 {
		t.Error("a rate of no time")
	}
}

package wait

import (
	"math/rand/v2"
	"testing"
)

// The budget wakes as early as all but one in a hundred sleeps end late, within its bounds.
func TestSpinLearns(t *testing.T) {
	for _, test := range []struct {
		name         string
		mean, spread int64 // of how late sleeps end, evenly spread, ns
		from, to     int64 // the early that is wanted
	}{
		{"fast machine", 1_000, 1_000, 5_000, 7_000},
		{"virtual machine", 15_000, 5_000, 17_000, 24_000},
		{"slow machine", 200_000, 10_000, 50_000, 50_000},
	} {
		s, r := newBudget(), rand.New(rand.NewPCG(1, 1))
		for range 20_000 {
			s.slept(test.mean - test.spread + r.Int64N(2*test.spread))
		}
		s.credit = spinCapacity
		if early := s.allowance(0); early < test.from || early > test.to {
			t.Errorf("%s: wakes %d ns early, want %d to %d", test.name, early, test.from, test.to)
		}
	}
}

// Watching the clock takes no more than its share.
func TestSpinShare(t *testing.T) {
	s := newBudget()
	spent, end := int64(0), int64(1e9)
	for now := int64(0); now < end; now += 60_000 {
		early := s.allowance(now)
		s.spent(early)
		spent += early
	}
	if share := 100 * spent / end; share > spinShare {
		t.Errorf("%d %% of the time spent, want at most %d", share, spinShare)
	}
}

// Package wait holds a goroutine until a descriptor has something to read or a time has come, to the microsecond where the
// machine allows it: what emulators of links stand on. It reads nothing, and knows no packets.
package wait

// budget lets a Waiter watch the clock for a share of the time only: a probe gets its packet to the microsecond,
// while an emulator on a small machine leaves its hosts time to run. It wakes as much early as sleeps end late, but for one
// in a hundred, which it learns from how they end.
type budget struct {
	last, credit int64   // ns
	late         float64 // ns
}

const (
	spinMost     = 50_000    // ns; covers the wake-up of an idle virtual processor, and is what is taken for it at first
	spinLeast    = 5_000     // ns; no machine wakes faster
	spinShare    = 50        // percent of a core: what 10,000 packets/s, 100 µs apart, need at most
	spinCapacity = 2_000_000 // ns; a burst of 40 packets, then as the share allows
	spinStep     = 2_000     // ns; after a sleep that ended later than expected. A hundredth of it back after the others
)

func newBudget() budget { return budget{late: spinMost} }

// allowance returns how many nanoseconds before the due time to wake.
func (s *budget) allowance(now int64) int64 {
	s.credit = min(spinCapacity, s.credit+(now-s.last)*spinShare/100)
	s.last = now
	if early := int64(s.late); s.credit >= early {
		return early
	}
	return 0
}

func (s *budget) spent(ns int64) { s.credit -= ns }

// slept learns from a sleep that ended so many nanoseconds after it should have. It follows the 99th percentile: it rises by
// a step and falls by a hundredth of one, which balance where one in a hundred is above.
func (s *budget) slept(over int64) {
	if float64(over) > s.late {
		s.late += spinStep
	} else {
		s.late -= spinStep / 100
	}
	s.late = min(max(s.late, spinLeast), spinMost)
}

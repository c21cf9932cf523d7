package sock

import "time"

// Wall watches whether a machine's wall clock is set.
type Wall struct {
	now   func() time.Time
	ahead time.Duration
}

// WatchWall begins to watch. Now reads the wall clock; nil: this machine's.
func WatchWall(now func() time.Time) Wall {
	if now == nil {
		now = time.Now
	}
	return Wall{now, aheadOf(now)}
}

// Stepped is how far the wall clock was set since the watch began, forward above zero; 0 where that is less than LeastStep. That the kernel
// lets it run a little faster or slower, as a daemon does that keeps it, is no step. A machine that slept looks as if it was set forward.
func (w Wall) Stepped() time.Duration {
	if step := aheadOf(w.now) - w.ahead; step.Abs() >= LeastStep {
		return step
	}
	return 0
}

// LeastStep is the least step that is told. The two clocks are not read at once, and between them a thread may have to wait.
const LeastStep = time.Millisecond

// origin is where the clock that nobody sets is read from.
var origin = time.Now()

// aheadOf is how far a wall clock is ahead of that clock. The wall clock is read first, so that a wait between both makes it less: of
// three, the most is right.
func aheadOf(now func() time.Time) time.Duration {
	var most time.Duration
	for i := range 3 {
		if ahead := time.Duration(now().UnixNano()) - time.Since(origin); i == 0 || ahead > most {
			most = ahead
		}
	}
	return most
}

package probe

import (
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// stopwatch times a measurement by a clock that nobody sets, and sees whether the wall clock is set meanwhile.
type stopwatch struct {
	began time.Time
	wall  sock.Wall
}

func startWatch() stopwatch { return stopwatch{time.Now(), sock.WatchWall(nil)} }

// stop records in a Result how long it took, and how far this host's clock was set.
func (w stopwatch) stop(r *measure.Result) {
	r.DurationSeconds = time.Since(w.began).Seconds()
	r.Clock.StepSeconds = w.wall.Stepped().Seconds()
}

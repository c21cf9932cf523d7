package measure

import "time"

// Clock says what the clock behind the timestamps is worth. Round trips need one clock and so ignore it; one-way
// delays are no better than ErrorSeconds.
type Clock struct {
	Synchronized bool     `json:"synchronized"`
	ErrorSeconds *float64 `json:"error_seconds"` // the most that it may be off; nil: nothing is known
}

// NewClock is a clock of which is known whether something disciplines it and, if so, the most that it may be off.
func NewClock(bound time.Duration, synchronized bool) Clock {
	c := Clock{Synchronized: synchronized}
	if synchronized {
		off := bound.Seconds()
		c.ErrorSeconds = &off
	}
	return c
}

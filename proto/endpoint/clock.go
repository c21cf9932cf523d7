package endpoint

import (
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/sock"
)

// Clock is what time stamps are read from. The zero value is this machine's, as its kernel reads it where it can.
type Clock struct {
	Now     func() time.Time                                // nil: time.Now, or the kernel's stamp of a packet
	Quality func() (bound time.Duration, synchronised bool) // nil: sock.ClockQuality
}

// Read is the time now.
func (c Clock) Read() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// At is when a packet came.
func (c Clock) At(s sock.Stamp) time.Time {
	switch {
	case c.Now != nil:
		return c.Now()
	case s.Kernel.IsZero():
		return s.User
	}
	return s.Kernel
}

// Worth is how far it may be off, and whether that is known: something keeps it.
func (c Clock) Worth() (bound time.Duration, synchronised bool) {
	if c.Quality == nil {
		return sock.ClockQuality()
	}
	return c.Quality()
}

// Estimate is Worth as packets tell it.
func (c Clock) Estimate() control.ErrorEstimate { return control.EstimateOf(c.Worth()) }

// estimateEvery is how often a clock is asked what it is worth: its bound grows by half a microsecond in that time.
const estimateEvery = time.Millisecond

// Estimates are those of a clock that is not asked for each packet.
type Estimates struct {
	Clock Clock
	asked time.Time
	last  control.ErrorEstimate
}

// At is the estimate now.
func (e *Estimates) At(now time.Time) control.ErrorEstimate {
	if e.asked.IsZero() || now.Sub(e.asked) > estimateEvery {
		e.asked, e.last = now, e.Clock.Estimate()
	}
	return e.last
}

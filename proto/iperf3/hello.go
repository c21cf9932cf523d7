package iperf3

import (
	"encoding/json"
	"time"
)

// Hello is what a Pathwise server tells a Pathwise client of itself: it comes between the client's parameters, which asked for it
// by their key "pathwise" (see ParamsExtra), and the state CREATE_STREAMS.
type Hello struct {
	Software string `json:"software"`
	Version  string `json:"version"`
	Clock    *Clock `json:"clock,omitempty"` // nil: of a server that does not say
}

// Clock says what the wall clock of the server's machine is worth.
type Clock struct {
	Synchronized bool     `json:"synchronized"`
	Error        *float64 `json:"error_seconds,omitempty"` // the most that it may be off; nil: nothing is known
}

// maxClockError is where Linux calls a clock unsynchronized (NTP_PHASE_LIMIT in kernel/time/ntp.c: 16 s). A larger bound says
// nothing of a clock.
const maxClockError = 16

// newClock returns the Clock of this machine, of which sock.ClockQuality returned the bound of its error, and whether it is
// synchronized. An unsynchronized clock has no bound.
func newClock(bound time.Duration, synchronized bool) *Clock {
	c := &Clock{Synchronized: synchronized}
	if seconds := bound.Seconds(); synchronized {
		c.Error = &seconds
	}
	return c.plausible()
}

// plausible returns the clock without its Error where that cannot be right: below zero, above maxClockError, or of a clock that is
// not synchronized.
func (c *Clock) plausible() *Clock {
	if c == nil || c.Error == nil || c.Synchronized && *c.Error >= 0 && *c.Error <= maxClockError {
		return c
	}
	return &Clock{Synchronized: c.Synchronized}
}

// DecodeHello reads the JSON text of a Hello.
func DecodeHello(text []byte) (Hello, error) {
	var h Hello
	if err := json.Unmarshal(text, &h); err != nil {
		return h, &ProtocolError{What: "malformed hello: " + oneLine(err.Error())}
	}
	h.Software, h.Version, h.Clock = oneLine(h.Software), oneLine(h.Version), h.Clock.plausible()
	return h, nil
}

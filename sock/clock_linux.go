package sock

import (
	"time"

	"golang.org/x/sys/unix"
)

// ClockQuality says what this machine's wall clock is worth, by the kernel's own account (adjtimex(2)): whether
// something disciplines it, and the most that it may be off. A clock that nothing disciplines has no bound: ok is
// then false.
func ClockQuality() (bound time.Duration, ok bool) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil || state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
		return 0, false
	}
	return time.Duration(t.Maxerror) * time.Microsecond, true
}

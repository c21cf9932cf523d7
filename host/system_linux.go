package host

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// readClock asks the kernel what it knows of its clock, and changes nothing.
func readClock() (TimeFacts, error) {
	var t unix.Timex // with no modes it only reads
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return TimeFacts{}, fmt.Errorf("read the clock's state: %w", err)
	}
	return TimeFacts{Known: true, Synchronised: state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0,
		MaxError: time.Duration(t.Maxerror) * time.Microsecond}, nil
}

func readSpace(path string) (free, size float64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, fmt.Errorf("read the space of %s: %w", path, err)
	}
	return float64(s.Bavail) * float64(s.Bsize), float64(s.Blocks) * float64(s.Bsize), nil
}

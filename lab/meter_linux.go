package lab

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// meterInterval is how fresh a Meter is, within what people notice, at no cost that could be measured.
const meterInterval = 50 * time.Millisecond

// keepMeter opens the meter and brings it up to date for as long as the lab stands. It returns the meter's name for the
// lab's processes.
func (e *engine) keepMeter() (path string, err error) {
	fd, err := unix.MemfdCreate("pathwise-meter", unix.MFD_CLOEXEC)
	if err != nil {
		return "", fmt.Errorf("create meter: %w", err)
	}
	last := Meter{}
	write := func(m Meter) error {
		_, err := unix.Pwrite(fd, m.bytes(), 0)
		return err
	}
	if err := write(last); err != nil {
		return "", fmt.Errorf("write meter: %w", err)
	}
	go func() {
		handled := int64(0)
		for range time.Tick(meterInterval) {
			m, seen := e.pump.meter()
			if seen == handled { // where nothing moves nothing overflows
				continue
			}
			handled, m.Overflowed = seen, e.pump.overflowed()
			if m != last {
				last = m
				_ = write(m)
			}
		}
	}()
	self, err := os.Readlink("/proc/self") // 1, unless the lab could not mount a /proc of its own
	if err != nil {
		return "", fmt.Errorf("find meter: %w", err)
	}
	return fmt.Sprintf("/proc/%s/fd/%d", self, fd), nil
}

// meter returns what the pump knows of a Meter, and how many packets it has handled so far.
func (u *pump) meter() (m Meter, handled int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return Meter{Packets: u.network.handed, Late: u.network.late, Refused: u.refusals}, u.handled
}

// overflowed adds up what the kernel dropped at all devices. It takes system calls, so the pump's lock is not held.
func (u *pump) overflowed() (n uint64) {
	u.looking.Lock()
	defer u.looking.Unlock()
	for _, d := range u.devices {
		if d != nil {
			n += d.overflowed()
		}
	}
	return n
}

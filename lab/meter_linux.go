package lab

import (
	"fmt"
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
		for range time.Tick(meterInterval) {
			if m := e.meter(last); m != last {
				last = m
				_ = write(m)
			}
		}
	}()
	return fmt.Sprintf("/proc/1/fd/%d", fd), nil
}

func (e *engine) meter(last Meter) Meter {
	u := e.pump
	u.mu.Lock()
	m := Meter{Packets: u.network.handed, Late: u.network.late, Refused: u.refusals, Overflowed: last.Overflowed}
	u.mu.Unlock()
	if m != last { // where nothing moves nothing overflows
		m.Overflowed = u.overflowed()
	}
	return m
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

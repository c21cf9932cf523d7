package sock

import (
	"time"

	"golang.org/x/sys/unix"
)

// ClockState is what is known of this machine's wall clock.
type ClockState struct {
	Synchronized bool          // something disciplines it
	Bound        time.Duration // the most that it may be off; 0 where nothing disciplines it: then there is none
	Estimated    time.Duration // by how much whoever disciplines it reckons that it is usually off
	Pending      time.Duration // what is still to be added to it, little by little
	Source       string        // who says so: "kernel", "chrony", "ptp", or "emulator" of a lab's host
	PPS          bool          // the kernel follows a pulse per second
}

// ReadClockState asks the kernel (adjtimex(2)), which believes what the program says that disciplines the clock. On a host of a lab whose file says
// how well its clock is kept, it is that.
func ReadClockState() ClockState {
	if shared, ok := sharedClock(); ok {
		return shared
	}
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return ClockState{Source: "kernel"}
	}
	return kernelClock(state, &t)
}

// kernelClock is what the kernel's answer means.
func kernelClock(state int, t *unix.Timex) ClockState {
	c := ClockState{Source: "kernel", PPS: t.Status&unix.STA_PPSSIGNAL != 0, Pending: time.Duration(t.Offset) * time.Microsecond}
	if t.Status&unix.STA_NANO != 0 {
		c.Pending = time.Duration(t.Offset)
	}
	if state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
		return c
	}
	c.Synchronized = true
	c.Bound, c.Estimated = time.Duration(t.Maxerror)*time.Microsecond, time.Duration(t.Esterror)*time.Microsecond
	return c
}

// ClockQuality says what this machine's wall clock is worth, by the kernel's own account: whether something disciplines it, and the most that it
// may be off. A clock that nothing disciplines has no bound: ok is then false.
func ClockQuality() (bound time.Duration, ok bool) {
	c := ReadClockState()
	return c.Bound, c.Synchronized
}

// AskClockState asks ptp4l or chrony where one of them runs and answers this user, and the kernel else. Of the two bounds the tighter one counts of
// chrony's and the kernel's, since chrony gave the kernel its own, which the kernel lets grow until chrony gives it the next; where chrony says
// that it follows no source, there is none. Of PTP's and the kernel's it is the wider one, since what keeps clocks by PTP tells the kernel an
// error of zero.
func AskClockState() ClockState {
	if shared, ok := sharedClock(); ok { // whatever keeps the machine's clock
		return shared
	}
	kernel := ReadClockState()
	for _, address := range ptpAddresses {
		if ptp, err := askPTP(address); err == nil {
			ptp.PPS, ptp.Pending, ptp.Bound = kernel.PPS, kernel.Pending, max(ptp.Bound, kernel.Bound)
			return ptp
		}
	}
	chrony, err := askChrony(chronyAddress)
	if err != nil {
		return kernel
	}
	chrony.PPS = kernel.PPS
	if chrony.Synchronized && kernel.Synchronized {
		chrony.Bound = min(chrony.Bound, kernel.Bound)
	}
	return chrony
}

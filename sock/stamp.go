package sock

import "time"

// Stamp is one moment in the life of one packet, as two clocks saw it.
//
// The kernel stamps a packet where it leaves for, or comes from, the driver: within some microseconds of the wire. The
// process sees the same packet earlier when sending and later when receiving, by the time that it takes to be scheduled:
//
//	User (send) <= Kernel (send) … the network … Kernel (receive) <= User (receive)
type Stamp struct {
	User   time.Time // read by this process, with a monotonic part: before sending, after receiving
	Kernel time.Time // CLOCK_REALTIME as the kernel read it; zero when it gave none
}

// Elapsed returns the time between two stamps, by the kernel's clock when both have it (kernel is then true) and by
// this process's monotonic clock otherwise.
//
// The kernel stamps with the wall clock, which may be stepped in between; its difference is used only if it lies within
// what the monotonic clock allows (see the order above).
func Elapsed(from, to Stamp) (elapsed time.Duration, kernel bool) {
	user := to.User.Sub(from.User)
	if from.Kernel.IsZero() || to.Kernel.IsZero() {
		return user, false
	}
	if d := to.Kernel.Sub(from.Kernel); d >= 0 && d <= user {
		return d, true
	}
	return user, false
}

// Package sock tells what Linux knows about a socket and about the paths behind it, and sets what Linux lets be set:
// TCP_INFO, congestion control, buffers, DSCP, pacing, the kernel's TCP settings, what the kernel remembers of earlier
// connections, kernel timestamps of single packets, and the ICMP errors that they met.
//
// It measures nothing and judges nothing; package probe does the first and package diagnose the second. Functions that
// take a syscall.RawConn work on any connection of package net (its SyscallConn method) and on a Socket of this
// package. A value that the kernel did not give is absent, which is never the same as zero.
package sock

import (
	"fmt"
	"time"
)

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

// PermissionError is an operation that the kernel allows only to others, and how to become one of them.
type PermissionError struct {
	Op     string
	Remedy string
	Err    error
}

func (e *PermissionError) Error() string { return fmt.Sprintf("%s: %v; %s", e.Op, e.Err, e.Remedy) }

func (e *PermissionError) Unwrap() error { return e.Err }

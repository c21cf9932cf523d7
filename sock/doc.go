// Package sock tells what Linux knows about a socket and about the paths behind it, and sets what Linux lets be set:
// TCP_INFO, congestion control, buffers, DSCP, pacing, the kernel's TCP settings, what the kernel remembers of earlier
// connections, kernel timestamps of single packets, and the ICMP errors that they met.
//
// It measures nothing and judges nothing; package probe does the first and package diagnose the second. Functions that
// take a syscall.RawConn work on any connection of package net (its SyscallConn method) and on a Socket of this
// package. A value that the kernel did not give is absent, which is never the same as zero.
package sock

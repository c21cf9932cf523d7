package lab

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poke makes the pump look again, after the control side changed something.
func (u *pump) poke() { _, _ = unix.Write(u.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// sleep waits until a packet comes or something is due. It wakes a little early and watches the clock for the rest,
// since a sleeping processor takes tens of microseconds to wake; or, when there is much to do, sleeps a fixed while and
// does it in one go.
func (u *pump) sleep(due int64, pending, busy bool) error {
	now := u.now()
	if busy {
		pause := unix.NsecToTimespec(moderation)
		// Ends early on a signal, which does no harm.
		_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, uintptr(unsafe.Pointer(&pause)), 0, 0, 0)
		return u.glance()
	}
	if !pending {
		return u.wait(nil)
	}
	early := u.spin.allowance(now)
	if rest := due - now - early; rest > 0 {
		limit := unix.NsecToTimespec(rest)
		if err := u.wait(&limit); err != nil || u.ready > 0 {
			return err
		}
		if now = u.now(); now < due-early { // a signal ended the wait
			return nil
		}
		u.spin.slept(now - (due - early))
	}
	if early == 0 {
		return nil
	}
	return u.watchClock(due, now)
}

// watchClock looks for packets again and again until something is due or comes.
func (u *pump) watchClock(due, began int64) error {
	for now := began; ; {
		if err := u.glance(); err != nil || u.ready > 0 {
			u.spin.spent(u.now() - began)
			return err
		}
		if now = u.now(); now >= due {
			u.spin.spent(now - began)
			return nil
		}
	}
}

// glance asks for events without waiting.
func (u *pump) glance() error {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(u.poll), uintptr(unsafe.Pointer(&u.events[0])),
		uintptr(len(u.events)), 0, 0, 0)
	return u.came(n, errno)
}

// wait blocks until an event comes or the limit has passed; nil is for ever. epoll_pwait2 is in Linux since 5.11, and has
// what ppoll has and epoll_wait lacks, a timeout in nanoseconds.
func (u *pump) wait(limit *unix.Timespec) error {
	call := unix.Syscall6
	if limit != nil && limit.Nano() <= shortWait {
		call = unix.RawSyscall6
	}
	n, _, errno := call(unix.SYS_EPOLL_PWAIT2, uintptr(u.poll), uintptr(unsafe.Pointer(&u.events[0])),
		uintptr(len(u.events)), uintptr(unsafe.Pointer(limit)), 0, 0)
	if errno == unix.ENOSYS {
		polls := []unix.PollFd{{Fd: int32(u.poll), Events: unix.POLLIN}}
		if _, err := unix.Ppoll(polls, limit, nil); err != nil && err != unix.EINTR && err != unix.EAGAIN {
			return fmt.Errorf("poll devices: %w", err)
		}
		return u.glance()
	}
	return u.came(n, errno)
}

// shortWait, in ns, is up to when the Go scheduler is not told that this thread waits. Being told, it takes locks on the way
// back, which ordinary threads of this process may hold while others keep them from running: 100 ms on a loaded machine.
// Not being told, it takes the thread for one that runs, and interrupts it for what cannot wait.
const shortWait = int64(5 * time.Millisecond)

// came notes how many events there are.
func (u *pump) came(n uintptr, errno unix.Errno) error {
	if errno == unix.EINTR || errno == unix.EAGAIN {
		return nil
	}
	if errno != 0 {
		return fmt.Errorf("poll devices: %w", errno)
	}
	u.ready = int(n)
	for _, e := range u.events[:u.ready] {
		if e.Fd == wakeEvent {
			var count [8]byte
			_, _ = unix.Read(u.wake, count[:])
		}
	}
	return nil
}

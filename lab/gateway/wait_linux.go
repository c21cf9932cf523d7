package gateway

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ownThread gives the calling goroutine a thread to itself, which ends with it, and makes its sleeps exact.
func ownThread() error {
	runtime.LockOSThread()
	// Sleeps end up to 50 µs late by default, so that wake-ups can be merged; here they must not be.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set timer slack: %w", err)
	}
	// Best effort: without the privilege, the thread competes on equal terms.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20)
	return nil
}

// sleep waits until a frame comes or something is due. It wakes a little early and watches the clock for the rest, since a
// sleeping processor takes tens of microseconds to wake.
func (g *Gateway) sleep(due int64, pending bool) error {
	limit := (*unix.Timespec)(nil)
	early := int64(0)
	if pending {
		now := g.now()
		early = g.spin.allowance(now)
		wait := due - now - early
		if wait <= 0 {
			return g.watchClock(due, now)
		}
		timeout := unix.NsecToTimespec(wait)
		limit = &timeout
	}
	if err := g.poller.wait(limit); err != nil || g.poller.some() || early == 0 {
		return err
	}
	return g.watchClock(due, g.now())
}

// watchClock looks for frames again and again until something is due or comes; once at least, lest those who send much
// keep it from reading.
func (g *Gateway) watchClock(due, began int64) error {
	for {
		if err := g.poller.glance(); err != nil {
			return err
		}
		if now := g.now(); now >= due || g.poller.some() {
			g.spin.credit -= now - began
			return nil
		}
	}
}

// spinBudget lets the gateway watch the clock for a share of the time only: a packet leaves to the microsecond, while a
// gateway on a small machine leaves other programs time to run.
type spinBudget struct {
	last, credit int64
}

const (
	spinEarly    = 50_000    // ns; covers the wake-up of an idle virtual processor
	spinShare    = 50        // percent of a core: what 10,000 packets/s, 100 µs apart, need
	spinCapacity = 2_000_000 // ns; a burst of 40 packets, then as the share allows
)

// allowance returns how many nanoseconds before the due time to wake.
func (s *spinBudget) allowance(now int64) int64 {
	s.credit = min(spinCapacity, s.credit+(now-s.last)*spinShare/100)
	s.last = now
	if s.credit < spinEarly {
		return 0
	}
	return spinEarly
}

// poller waits for the ports and for other goroutines. Only Run's thread uses it, but for poke.
type poller struct {
	epoll, wake int // wake: an eventfd
	events      [4]unix.EpollEvent
	count       int // events that wait to be looked at
}

// wakeEvent marks the events of wake; the others carry their port's number.
const wakeEvent = -1

func openPoller(ports [2]*port) (p poller, err error) {
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return poller{}, fmt.Errorf("open poll: %w", err)
	}
	if p.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		unix.Close(p.epoll)
		return poller{}, fmt.Errorf("open event: %w", err)
	}
	for mark, fd := range map[int32]int{wakeEvent: p.wake, 0: ports[0].socket, 1: ports[1].socket} {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: mark}
		if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			p.close()
			return poller{}, fmt.Errorf("watch interface: %w", err)
		}
	}
	return p, nil
}

func (p *poller) close() {
	if p.epoll > 0 {
		unix.Close(p.epoll)
		unix.Close(p.wake)
	}
}

// poke ends a wait.
func (p *poller) poke() { _, _ = unix.Write(p.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

func (p *poller) some() bool { return p.count > 0 }
func (p *poller) forget()    { p.count = 0 }

// ready reports whether a port has something to read, or an error to tell.
func (p *poller) ready(i int) bool {
	for _, e := range p.events[:p.count] {
		if e.Fd == int32(i) {
			return true
		}
	}
	return false
}

// glance asks for events without waiting.
func (p *poller) glance() error {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), 0, 0, 0)
	return p.came(n, errno)
}

// wait blocks until an event comes or the limit has passed; nil is for ever. epoll_pwait2, in Linux since 5.11, has a
// timeout in nanoseconds; ppoll, which has one too, stands in for it before.
func (p *poller) wait(limit *unix.Timespec) error {
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), uintptr(unsafe.Pointer(limit)), 0, 0)
	if errno == unix.ENOSYS {
		polls := []unix.PollFd{{Fd: int32(p.epoll), Events: unix.POLLIN}}
		if _, err := unix.Ppoll(polls, limit, nil); err != nil && err != unix.EINTR && err != unix.EAGAIN {
			return fmt.Errorf("poll interfaces: %w", err)
		}
		return p.glance()
	}
	return p.came(n, errno)
}

// came notes how many events there are.
func (p *poller) came(n uintptr, errno unix.Errno) error {
	switch errno {
	case 0:
	case unix.EINTR, unix.EAGAIN:
		return nil
	default:
		return fmt.Errorf("poll interfaces: %w", errno)
	}
	p.count = int(n)
	for _, e := range p.events[:p.count] {
		if e.Fd == wakeEvent {
			var value [8]byte
			_, _ = unix.Read(p.wake, value[:])
		}
	}
	return nil
}

package wait

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Waiter waits for descriptors and for a time. One goroutine uses it; Poke alone may be called by any.
type Waiter struct {
	poll, wake int // epoll instance, and an eventfd in it
	raw        [64]unix.EpollEvent
	events     []Event
	spin       budget
	thread     thread
}

// Event is that a descriptor has something to read.
type Event struct {
	Mark   int32 // as it was added
	Failed bool  // it has an error, or the other end is gone: it will be ready for ever
}

// Open makes a Waiter for no descriptors yet.
func Open() (*Waiter, error) {
	w := &Waiter{spin: newBudget()}
	var err error
	if w.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("open poll: %w", err)
	}
	if w.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		unix.Close(w.poll)
		return nil, fmt.Errorf("open event: %w", err)
	}
	if err := w.Add(w.wake, wakeMark); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// wakeMark marks the events of wake.
const wakeMark = -1

// Add has a descriptor waited for, under a mark of 0 or more.
func (w *Waiter) Add(fd int, mark int32) error {
	if err := unix.EpollCtl(w.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: mark}); err != nil {
		return fmt.Errorf("watch descriptor: %w", err)
	}
	return nil
}

// Remove makes the Waiter wait for a descriptor no longer.
func (w *Waiter) Remove(fd int) { _ = unix.EpollCtl(w.poll, unix.EPOLL_CTL_DEL, fd, nil) }

// Close ends the Waiter, which nobody may wait with any more.
func (w *Waiter) Close() {
	unix.Close(w.poll)
	unix.Close(w.wake)
}

// Poke ends a wait, the next one if there is none now.
func (w *Waiter) Poke() { _, _ = unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// Prefer makes the calling goroutine run as soon as its wait ends, as far as its privileges go. It is to be called again
// before each wait, since goroutines change threads; Release ends it.
func (w *Waiter) Prefer() error { return w.thread.prefer() }

// Release makes the thread an ordinary one.
func (w *Waiter) Release() { w.thread.release() }

// Events are those that were there when the last wait ended, until Forget.
func (w *Waiter) Events() []Event { return w.events }

// Forget takes the events as seen to.
func (w *Waiter) Forget() { w.events = w.events[:0] }

// Until waits until an event comes, or, where there is one, a time; it may end early. It wakes a little before and watches
// the clock for the rest, since a sleeping processor takes tens of microseconds to wake. Times are those of now, in ns.
func (w *Waiter) Until(now func() int64, due int64, pending bool) error {
	if !pending {
		return w.wait(nil)
	}
	began := now()
	early := w.spin.allowance(began)
	if rest := due - began - early; rest > 0 {
		limit := unix.NsecToTimespec(rest)
		if err := w.wait(&limit); err != nil || len(w.events) > 0 {
			return err
		}
		woke := now()
		if woke < due-early { // a signal, or Poke, ended the wait
			return nil
		}
		w.spin.slept(woke - (due - early))
	}
	if early == 0 {
		return w.glance() // who is late with one thing must still hear of others
	}
	return w.watchClock(now, due)
}

// watchClock looks for events again and again until something is due or comes.
func (w *Waiter) watchClock(now func() int64, due int64) error {
	for began := now(); ; {
		err := w.glance()
		if t := now(); err != nil || len(w.events) > 0 || t >= due {
			w.spin.spent(t - began)
			return err
		}
	}
}

// Rest sleeps, whatever comes, and looks then.
func (w *Waiter) Rest(d time.Duration) error {
	pause := unix.NsecToTimespec(int64(d))
	// Ends early on a signal, which does no harm.
	_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, uintptr(unsafe.Pointer(&pause)), 0, 0, 0)
	return w.glance()
}

// glance asks for events without waiting.
func (w *Waiter) glance() error {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.poll), uintptr(unsafe.Pointer(&w.raw[0])),
		uintptr(len(w.raw)), 0, 0, 0)
	return w.came(n, errno)
}

// shortWait, in ns, is up to when the Go scheduler is not told that this thread waits. Being told, it takes locks on the way
// back, which ordinary threads of this process may hold while others keep them from running: 100 ms on a loaded machine.
// Not being told, it takes the thread for one that runs, and interrupts it for what cannot wait.
const shortWait = int64(5 * time.Millisecond)

// wait blocks until an event comes or the limit has passed; nil is for ever. epoll_pwait2 is in Linux since 5.11, and has
// what ppoll has and epoll_wait lacks, a timeout in nanoseconds.
func (w *Waiter) wait(limit *unix.Timespec) error {
	call := unix.Syscall6
	if limit != nil && limit.Nano() <= shortWait {
		call = unix.RawSyscall6
	}
	n, _, errno := call(unix.SYS_EPOLL_PWAIT2, uintptr(w.poll), uintptr(unsafe.Pointer(&w.raw[0])),
		uintptr(len(w.raw)), uintptr(unsafe.Pointer(limit)), 0, 0)
	if errno == unix.ENOSYS {
		polls := []unix.PollFd{{Fd: int32(w.poll), Events: unix.POLLIN}}
		if _, err := unix.Ppoll(polls, limit, nil); err != nil && err != unix.EINTR && err != unix.EAGAIN {
			return fmt.Errorf("poll: %w", err)
		}
		return w.glance()
	}
	return w.came(n, errno)
}

// came notes the events that there are.
func (w *Waiter) came(n uintptr, errno unix.Errno) error {
	w.events = w.events[:0]
	if errno == unix.EINTR || errno == unix.EAGAIN {
		return nil
	}
	if errno != 0 {
		return fmt.Errorf("poll: %w", errno)
	}
	for _, e := range w.raw[:n] {
		if e.Fd == wakeMark {
			var count [8]byte
			_, _ = unix.Read(w.wake, count[:])
			continue
		}
		w.events = append(w.events, Event{e.Fd, e.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0})
	}
	return nil
}

// thread makes the kernel run a Waiter's thread as soon as there is something to do.
//
// With the privilege it is a real-time thread: niceness would be weighed within a terminal's session only (sched(7),
// autogroup). Its goroutine is not locked to it then. The Go scheduler makes any goroutine yield that ran for 10 ms; one
// that is locked waits for another thread to be woken, an ordinary one, while one that is not goes on at once, nearly always
// on the thread that it had. Where it does change threads, the next one is preferred and the last one no more.
type thread struct {
	id     int
	locked bool
}

// prefer makes the calling thread a real-time thread, and the one that was it before an ordinary one. Where the goroutine is locked to
// its thread, there is nothing to do.
func (t *thread) prefer() error {
	if t.locked {
		return nil
	}
	id := unix.Gettid()
	if id == t.id {
		return nil
	}
	if t.id != 0 {
		_ = unix.SchedSetAttr(t.id, &unix.SchedAttr{Policy: unix.SCHED_NORMAL}, 0)
	}
	t.id = id
	// On one processor nothing is preferred to the hosts, which are to send something.
	if runtime.NumCPU() > 1 && unix.SchedSetAttr(0, &realTime, 0) == nil {
		return nil
	}
	t.locked = true
	runtime.LockOSThread()
	// Sleeps end up to 50 µs late by default, so that wake-ups can be merged; here they must not be. Real-time threads
	// have no such slack.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set timer slack: %w", err)
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20) // without the privilege, it competes on equal terms
	return nil
}

// release makes the thread an ordinary one again. One that is locked ends with its goroutine.
func (t *thread) release() {
	if t.id != 0 && !t.locked {
		_ = unix.SchedSetAttr(t.id, &unix.SchedAttr{Policy: unix.SCHED_NORMAL}, 0)
	}
	t.id = 0
}

// realTime is the least of real-time priorities, and not for what the thread starts.
var realTime = unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK}

package wait

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

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

// prefer does that for the thread that calls, once.
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

package lab

import (
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// pump moves packets between a Network and devices in real time, on one locked thread: read what has come, hand on
// what is due, sleep until something is due or comes.
type pump struct {
	start   time.Time // virtual time 0
	devices []device  // by interface; nil where a router is
	poll    int       // epoll instance: every device, and wake
	wake    int       // eventfd: what is due may have changed
	events  [64]unix.EpollEvent
	ready   int // events that wait to be looked at

	looking  sync.Mutex // guards the devices' counts of what overflowed
	mu       sync.Mutex // guards what follows, against the control side
	network  *Network
	batch    *batch
	leaving  []departure // by interface
	waiting  []int       // interfaces with something leaving
	refusals uint64
	arrival  int // interface that is being read
	reading  time.Time

	handled int64 // packets that came in and went out
	pace    pace
	spin    spinBudget
}

// refused returns how many packets devices did not take.
func (u *pump) refused() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refusals
}

// departure is what waits to be written to one device.
type departure struct {
	list  []leave
	batch []*packet.Packet
}

type leave struct {
	direction int
	due       int64
}

func newPump(p *Plan, devices map[int]device, mtu int) (*pump, error) {
	u := &pump{start: time.Now(), devices: make([]device, len(p.Interfaces)), leaving: make([]departure, len(p.Interfaces))}
	network, err := NewNetwork(p, u.deliver)
	if err != nil {
		return nil, err
	}
	u.network = network
	u.batch = newBatch(&network.Pool, mtu, p.Offload)
	if u.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("open poll: %w", err)
	}
	if u.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("open event: %w", err)
	}
	if err := u.watch(u.wake, wakeEvent); err != nil {
		return nil, err
	}
	for id, d := range devices {
		u.devices[id] = d
		if err := u.watch(d.fd(), int32(id)); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// wakeEvent marks the events of wake; the others carry their interface's number.
const wakeEvent = -1

func (u *pump) watch(fd int, mark int32) error {
	err := unix.EpollCtl(u.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: mark})
	if err != nil {
		return fmt.Errorf("watch device: %w", err)
	}
	return nil
}

// run works until the process ends.
func (u *pump) run() error {
	runtime.LockOSThread()
	// Sleeps end up to 50 µs late by default, so that wake-ups can be merged; here they must not be.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set timer slack: %w", err)
	}
	// Best effort: without the privilege, the thread competes on equal terms.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20)
	for {
		due, pending := u.turn()
		if err := u.sleep(due, pending); err != nil {
			return err
		}
	}
}

// turn does all that can be done now and returns when something is due next.
func (u *pump) turn() (due int64, pending bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.advance()
	for _, e := range u.events[:u.ready] {
		if e.Fd == wakeEvent {
			continue
		}
		for range readTurns {
			n := u.readFrom(int(e.Fd))
			u.advance()
			if n < batchSize {
				break
			}
		}
	}
	u.ready = 0
	return u.network.Due()
}

func (u *pump) now() int64 { return int64(time.Since(u.start)) }

// advance brings the network up to now, and hands over what came out.
func (u *pump) advance() {
	u.network.Advance(u.now())
	u.flushAll()
}

// flushAll writes what waits for devices.
func (u *pump) flushAll() {
	for _, i := range u.waiting {
		u.flush(i)
	}
	u.waiting = u.waiting[:0]
}

// readTurns batches are read from one device before the others get their turn.
const readTurns = 8

// readFrom injects a batch of what a device holds. A packet counts from when the kernel saw it, not from when this thread
// woke.
func (u *pump) readFrom(id int) int {
	u.arrival, u.reading = id, time.Now()
	return u.devices[id].read(u.batch, u.inject)
}

func (u *pump) inject(p *packet.Packet, stamp int64) {
	u.handled++
	t := int64(u.reading.Sub(u.start))
	if stamp != 0 {
		// It may have come after reading began, if this thread was held up there; but not after now, whatever the wall
		// clock was set to in between.
		if t += stamp - u.reading.UnixNano(); t > int64(u.reading.Sub(u.start)) {
			t = min(t, u.now())
		}
	}
	u.network.Inject(max(0, t), u.arrival, p)
}

// deliver is the Network's Deliver: gather packets for one system call.
func (u *pump) deliver(iface, dir int, due int64, p *packet.Packet) {
	u.handled++
	d := &u.leaving[iface]
	if len(d.list) == 0 {
		u.waiting = append(u.waiting, iface)
	}
	d.list = append(d.list, leave{dir, due})
	d.batch = append(d.batch, p)
	if len(d.list) == batchSize {
		u.flush(iface)
	}
}

// flush writes what waits for a device, and tells the network when it left.
func (u *pump) flush(iface int) {
	d := &u.leaving[iface]
	for k := 0; k < len(d.batch); {
		n := u.devices[iface].write(u.batch, d.batch[k:])
		left := u.now()
		for i := k; i < k+n; i++ {
			u.network.Handed(d.batch[i], d.list[i].direction, d.list[i].due, left, false)
		}
		k += n
		if n == 0 { // the kernel refuses this one
			u.refusals++
			u.network.Handed(d.batch[k], d.list[k].direction, d.list[k].due, left, true)
			k++
		}
	}
	clear(d.batch)
	d.list, d.batch = d.list[:0], d.batch[:0]
}

// poke makes the pump look again, after the control side changed something.
func (u *pump) poke() { _, _ = unix.Write(u.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// sleep waits until a packet comes or something is due. It wakes a little early and watches the clock for the rest,
// since a sleeping processor takes tens of microseconds to wake; or, when there is much to do, sleeps a fixed while and
// does it in one go.
func (u *pump) sleep(due int64, pending bool) error {
	now := u.now()
	if u.pace.busy(now, u.handled) {
		pause := unix.NsecToTimespec(moderation)
		_, _ = unix.Ppoll(nil, &pause, nil) // ends early on a signal, which does no harm
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
	}
	if early == 0 {
		return nil
	}
	return u.watchClock(due, u.now())
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
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(u.poll), uintptr(unsafe.Pointer(&u.events[0])),
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

// pace tells when packets come and go so fast that each one's own wake-up would cost more than it gains.
type pace struct {
	since, handled int64
	fast           bool
}

const (
	paceWindow = int64(time.Millisecond)
	paceLimit  = 50     // packets in or out in a window: 25,000 packets/s through the lab, two and a half times what probes need
	moderation = 50_000 // ns; half of the lateness that a probe may see, and a batch of 12 at 1.5 Gbit/s
)

// busy reports whether more than paceLimit packets were handled in the last window; handled counts them since ever.
func (p *pace) busy(now, handled int64) bool {
	if elapsed := now - p.since; elapsed >= paceWindow {
		p.fast = (handled-p.handled)*paceWindow > paceLimit*elapsed
		p.since, p.handled = now, handled
	}
	return p.fast
}

// spinBudget lets the pump watch the clock for a share of the time only: a probe gets its packet to the microsecond,
// while an emulator on a small machine leaves its hosts time to run.
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

func (s *spinBudget) spent(ns int64) { s.credit -= ns }

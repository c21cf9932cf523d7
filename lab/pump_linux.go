package lab

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pump moves packets between a Network and devices in real time, on one locked thread: read what has come, hand on
// what is due, sleep until something is due or comes.
type pump struct {
	start   time.Time // virtual time 0
	devices map[int]device
	order   []int // interfaces in the order of polls
	polls   []unix.PollFd
	wake    int // eventfd, last of polls: what is due may have changed

	mu      sync.Mutex // guards what follows, against the control side
	network *Network
	refused uint64 // packets that a device did not take

	spin spinBudget
}

// readBatch bounds what is read from one device before the others and what is due get their turn.
const readBatch = 64

func newPump(p *Plan, devices map[int]device) (*pump, error) {
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open event: %w", err)
	}
	u := &pump{start: time.Now(), devices: devices, wake: wake}
	u.network = NewNetwork(p, u.deliver)
	for _, id := range p.HostInterfaces() {
		u.order = append(u.order, id)
		u.polls = append(u.polls, unix.PollFd{Fd: int32(devices[id].fd()), Events: unix.POLLIN})
	}
	u.polls = append(u.polls, unix.PollFd{Fd: int32(wake), Events: unix.POLLIN})
	return u, nil
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

// turn does all that can be done now and returns when the next packet is due.
func (u *pump) turn() (due int64, pending bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.network.Advance(u.now())
	for i, id := range u.order {
		if u.polls[i].Revents != 0 {
			u.polls[i].Revents = 0
			u.readFrom(id)
		}
	}
	u.network.Advance(u.now())
	return u.network.Due()
}

func (u *pump) now() int64 { return int64(time.Since(u.start)) }

// readFrom injects what a device holds. A packet counts from when the kernel saw it, not from when this thread woke.
func (u *pump) readFrom(id int) {
	d := u.devices[id]
	wall := time.Now()
	now := int64(wall.Sub(u.start))
	for range readBatch {
		b := u.network.Buffer()
		n, stamp, errno := d.read(b)
		if errno != 0 {
			u.network.Release(b)
			return
		}
		t := now
		if stamp != 0 {
			t = min(now, now-(wall.UnixNano()-stamp))
		}
		u.network.Inject(t, id, b[:n])
	}
}

// deliver is the Network's Deliver: write the packet, note how late it left.
func (u *pump) deliver(iface, dir int, due int64, packet []byte) {
	if errno := u.devices[iface].write(packet); errno != 0 {
		u.refused++
	} else {
		u.network.directions[dir].late.Record(max(0, u.now()-due))
	}
	u.network.Release(packet)
}

// poke makes the pump look again, after the control side changed something.
func (u *pump) poke() { _, _ = unix.Write(u.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// sleep waits until a packet comes or the next one is due. It wakes a little early and watches the clock for the
// rest, since a sleeping processor takes tens of microseconds to wake.
func (u *pump) sleep(due int64, pending bool) error {
	var timeout *unix.Timespec
	early := int64(0)
	if pending {
		early = u.spin.allowance(u.now())
		wait := unix.NsecToTimespec(max(0, due-u.now()-early))
		timeout = &wait
	}
	n, err := unix.Ppoll(u.polls, timeout, nil)
	if err != nil && err != unix.EINTR && err != unix.EAGAIN {
		return fmt.Errorf("poll devices: %w", err)
	}
	if last := &u.polls[len(u.polls)-1]; last.Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(u.wake, count[:])
		last.Revents = 0
	}
	if n == 0 && err == nil && pending && early > 0 {
		began := u.now()
		for u.now() < due {
		}
		u.spin.spent(u.now() - began)
	}
	return nil
}

// spinBudget lets the pump watch the clock for a small share of the time only: a probe now and then gets its packet
// to the microsecond, while bulk traffic does not lose a processor to waiting.
type spinBudget struct {
	last, credit int64
}

const (
	spinEarly    = 80_000    // ns; covers the wake-up of an idle virtual processor
	spinShare    = 10        // percent of a core
	spinCapacity = 2_000_000 // ns; a burst of 25 packets, then as the share allows
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

package echo

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// sendDue sends the requests that are due, at most a batch of them; more says that others may be.
func (f *family) sendDue(fd int) (more bool, err error) {
	l := &f.ledger
	for i := range batchSize {
		now := time.Since(l.began)
		if l.plan.ended(l.next) || l.full() {
			return false, nil
		}
		if i == 0 {
			l.plan.slip(l.next, now)
		}
		if l.plan.due(l.next) > now {
			return false, nil
		}
		if later, err := f.send(fd); later || err != nil {
			return false, err
		}
	}
	return true, nil
}

// send sends the next request. Later is true where the kernel has no room for it now. One that this host cannot send is refused.
func (f *family) send(fd int) (later bool, err error) {
	l := &f.ledger
	to := f.prepare(l.plan.parts(l.next))
	var before time.Time
	var failed error
	for range tries {
		before = time.Now()
		if failed = unix.Sendto(fd, f.packet, unix.MSG_DONTWAIT, to); failed == nil {
			l.send(before)
			return false, nil
		}
		if err := f.restamp(fd); err != nil {
			return false, err
		}
		if failed == unix.EAGAIN || failed == unix.ENOBUFS {
			return true, nil
		}
	}
	l.send(before)
	l.restamp() // this one has no stamp
	l.refused(l.next-1, Event{Why: failed.Error()})
	return false, nil
}

// prepare makes the packet of a request, and returns where it goes.
func (f *family) prepare(sequence, place uint32) unix.Sockaddr {
	Mark{Token: f.token, Place: place, Sequence: sequence}.Put(f.message.Payload)
	f.message.Sequence = uint16(sequence)
	f.packet = f.message.Append(f.packet[:0], f.ipv6)
	if f.ipv6 {
		f.to6.Addr, f.to6.ZoneId = f.targets[place].As16(), f.zones[place]
		return &f.to6
	}
	f.to4.Addr = f.targets[place].As4()
	return &f.to4
}

// restamp makes the kernel number its stamps from 0 again: whether a request that could not be sent has a number depends on where that failed
// (Documentation/networking/timestamping.rst, SOF_TIMESTAMPING_OPT_ID).
func (f *family) restamp(fd int) error {
	if err := f.hearErrors(fd); err != nil {
		return err
	}
	flags, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING)
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags&^unix.SOF_TIMESTAMPING_OPT_ID)
	}
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags)
	}
	if err != nil {
		return fmt.Errorf("number stamps anew: %w", os.NewSyscallError("setsockopt SO_TIMESTAMPING", err))
	}
	f.ledger.restamp()
	return nil
}

package sock

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Unwatched is a connected UDP socket that Go's network poller does not watch. The poller asks epoll(7) to tell it of each change of a socket, edge by
// edge, so that the kernel wakes a thread for each datagram that comes and for each that leaves, also while nobody waits for one. An Unwatched is
// waited for with ppoll(2), and only where it would block; that takes a thread for as long.
//
// It is a net.Conn and a syscall.RawConn with the contracts of those: one goroutine may read beside one that writes; deadlines and Close end what waits.
type Unwatched struct {
	fd            int
	local, remote net.Addr
	in, out       direction
	closed        atomic.Bool
	use           sync.RWMutex // held for reading while fd is in use
}

// direction is one way of an Unwatched.
type direction struct {
	events   int16
	deadline atomic.Int64 // ns since 1970; 0: none
	wake     int          // an eventfd(2): the deadline was changed, or the socket closed
}

// Unwatch takes a connected socket from Go's poller. On success the connection that was given is closed, and what is returned is the socket.
func Unwatch(conn *net.UDPConn) (*Unwatched, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	u := &Unwatched{fd: -1, local: conn.LocalAddr(), remote: conn.RemoteAddr(),
		in: direction{events: unix.POLLIN, wake: -1}, out: direction{events: unix.POLLOUT, wake: -1}}
	failed := raw.Control(func(fd uintptr) { u.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(failed, err); err == nil {
		u.in.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		u.out.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err != nil {
		u.release()
		return nil, fmt.Errorf("take a socket from the poller: %w", err)
	}
	return u, conn.Close()
}

// release closes the descriptors.
func (u *Unwatched) release() (err error) {
	for _, fd := range []int{u.fd, u.in.wake, u.out.wake} {
		if fd >= 0 {
			err = errors.Join(err, unix.Close(fd))
		}
	}
	return err
}

// Close ends what waits, and closes the socket when nobody uses it any more.
func (u *Unwatched) Close() error {
	if u.closed.Swap(true) {
		return net.ErrClosed
	}
	u.in.signal()
	u.out.signal()
	u.use.Lock()
	defer u.use.Unlock()
	return u.release()
}

// signal lets who waits look again.
func (d *direction) signal() { _, _ = unix.Write(d.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// drain takes back what signal did.
func (d *direction) drain() {
	var count [8]byte
	_, _ = unix.Read(d.wake, count[:])
}

// over returns the error of a direction that is not to be used now.
func (u *Unwatched) over(d *direction) error {
	at := d.deadline.Load()
	switch {
	case u.closed.Load():
		return net.ErrClosed
	case at != 0 && time.Now().UnixNano() >= at:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// until calls f whenever the socket is ready, first at once, until it returns true.
func (u *Unwatched) until(d *direction, f func(fd uintptr) bool) error {
	u.use.RLock()
	defer u.use.RUnlock()
	for {
		if err := u.over(d); err != nil {
			return err
		}
		if f(uintptr(u.fd)) {
			return nil
		}
		if err := u.wait(d); err != nil {
			return err
		}
	}
}

// wait returns when the socket is ready, its deadline has passed, or somebody wants it to look again.
func (u *Unwatched) wait(d *direction) error {
	polled := [2]unix.PollFd{{Fd: int32(u.fd), Events: d.events}, {Fd: int32(d.wake), Events: unix.POLLIN}}
	var limit *unix.Timespec
	if at := d.deadline.Load(); at != 0 {
		left := unix.NsecToTimespec(max(0, at-time.Now().UnixNano()))
		limit = &left
	}
	if _, err := unix.Ppoll(polled[:], limit, nil); err != nil && err != unix.EINTR {
		return os.NewSyscallError("ppoll", err)
	}
	if polled[1].Revents != 0 {
		d.drain()
	}
	if polled[0].Revents&(d.events|unix.POLLERR) == unix.POLLERR {
		u.dropErrors()
	}
	return nil
}

// dropErrors empties the queue of errors (ip(7), IP_RECVERR), which would keep the socket ready for ever. The next call is told of the latest.
func (u *Unwatched) dropErrors() {
	var control [256]byte
	for {
		if _, _, _, _, err := unix.Recvmsg(u.fd, nil, control[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); err != nil {
			return
		}
	}
}

// SyscallConn returns the socket itself.
func (u *Unwatched) SyscallConn() (syscall.RawConn, error) { return rawUnwatched{u}, nil }

// rawUnwatched is an Unwatched by the names of a syscall.RawConn.
type rawUnwatched struct{ u *Unwatched }

func (r rawUnwatched) Control(f func(fd uintptr)) error {
	r.u.use.RLock()
	defer r.u.use.RUnlock()
	if r.u.closed.Load() {
		return net.ErrClosed
	}
	f(uintptr(r.u.fd))
	return nil
}

func (r rawUnwatched) Read(f func(fd uintptr) bool) error  { return r.u.until(&r.u.in, f) }
func (r rawUnwatched) Write(f func(fd uintptr) bool) error { return r.u.until(&r.u.out, f) }

// Read takes one datagram.
func (u *Unwatched) Read(b []byte) (n int, err error) {
	return u.transfer("read", &u.in, func(fd int) (int, error) { return unix.Read(fd, b) })
}

// Write sends one datagram.
func (u *Unwatched) Write(b []byte) (n int, err error) {
	return u.transfer("write", &u.out, func(fd int) (int, error) { return unix.Write(fd, b) })
}

func (u *Unwatched) transfer(verb string, d *direction, call func(fd int) (int, error)) (n int, err error) {
	waited := u.until(d, func(fd uintptr) bool {
		n, err = call(int(fd))
		return err != unix.EAGAIN && err != unix.EINTR
	})
	if waited != nil {
		return 0, &net.OpError{Op: verb, Net: "udp", Source: u.local, Addr: u.remote, Err: waited}
	}
	return max(n, 0), os.NewSyscallError(verb, err)
}

func (u *Unwatched) LocalAddr() net.Addr  { return u.local }
func (u *Unwatched) RemoteAddr() net.Addr { return u.remote }

func (u *Unwatched) SetDeadline(t time.Time) error {
	return errors.Join(u.SetReadDeadline(t), u.SetWriteDeadline(t))
}
func (u *Unwatched) SetReadDeadline(t time.Time) error  { return u.set(&u.in, t) }
func (u *Unwatched) SetWriteDeadline(t time.Time) error { return u.set(&u.out, t) }

func (u *Unwatched) set(d *direction, t time.Time) error {
	u.use.RLock()
	defer u.use.RUnlock()
	if u.closed.Load() {
		return net.ErrClosed
	}
	at := int64(0)
	if !t.IsZero() {
		at = t.UnixNano()
	}
	d.deadline.Store(at)
	d.signal()
	return nil
}

package sock

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Connecting is a TCP connection that was begun, and is open or not yet. Whoever began it closes it.
type Connecting struct {
	*os.File
	Began time.Time // just before the kernel was asked
	to    netip.AddrPort
	said  error // by the kernel at once; nil: the connection is under way, or open
}

// BeginConnect begins a TCP connection and does not wait for it. prepare sets options of the socket before that; nil: none. The
// error says that nothing was sent, such as that there is no route.
func BeginConnect(to netip.AddrPort, prepare func(syscall.RawConn) error) (*Connecting, error) {
	ipv6 := FamilyOf(to.Addr()) == IPv6
	file, fd, err := openTCP(ipv6, unix.SOCK_NONBLOCK)
	if err != nil {
		return nil, err
	}
	if prepare != nil {
		var raw syscall.RawConn
		if raw, err = file.SyscallConn(); err == nil {
			err = prepare(raw)
		}
	}
	c := &Connecting{File: file, to: to, Began: time.Now()}
	if err == nil {
		c.said = unix.Connect(fd, sockaddr(to, ipv6))
	}
	switch {
	case errors.Is(c.said, unix.EINPROGRESS):
		c.said = nil
	case c.said != nil && !errors.Is(c.said, unix.ECONNREFUSED): // a refusal is an answer, which on this host may come at once
		err = fmt.Errorf("connect to %s: %w", to, c.said)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return c, nil
}

// Wait waits for what becomes of the connection. nil means that it is open. Errors are what the network answered, such as
// ECONNREFUSED or EHOSTUNREACH; ETIMEDOUT when the kernel gave up; and os.ErrDeadlineExceeded when nothing had come at the deadline
// that was set.
func (c *Connecting) Wait() error {
	if c.said != nil {
		return fmt.Errorf("connect to %s: %w", c.to, c.said)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Write(func(fd uintptr) bool { return c.settled(int(fd)) })
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// The answer may have come before the deadline, while this process did not run.
		var known bool
		if failed := raw.Control(func(fd uintptr) { known = c.settled(int(fd)) }); failed == nil && known {
			err = nil
		}
	}
	if err == nil {
		err = c.said
	}
	if err != nil {
		return fmt.Errorf("connect to %s: %w", c.to, err)
	}
	return nil
}

// Local is this end of the connection.
func (c *Connecting) Local() netip.AddrPort {
	raw, err := c.SyscallConn()
	if err != nil {
		return netip.AddrPort{}
	}
	name, err := control(raw, func(fd int) (syscall.Sockaddr, error) { return syscall.Getsockname(fd) })
	if err != nil {
		return netip.AddrPort{}
	}
	return addrPort(name)
}

// LeaveFrom has a connection that is begun leave from an address of this host, by a port that the kernel chooses. It is for prepare.
func LeaveFrom(local netip.Addr) func(syscall.RawConn) error {
	return func(c syscall.RawConn) error {
		_, err := control(c, func(fd int) (struct{}, error) {
			return struct{}{}, unix.Bind(fd, sockaddr(netip.AddrPortFrom(local, 0), FamilyOf(local) == IPv6))
		})
		return os.NewSyscallError("bind", err)
	}
}

// HearICMP has a connection that is begun keep the ICMP error that ends it, for Connecting.ICMP. It is for prepare.
func HearICMP(ipv6 bool) func(syscall.RawConn) error {
	level, option := unix.IPPROTO_IP, unix.IP_RECVERR
	if ipv6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	return func(c syscall.RawConn) error {
		return os.NewSyscallError("setsockopt IP_RECVERR", SetInt(c, level, option, 1))
	}
}

// ICMP returns the ICMP error that ended the connection, and who sent it; ok is false where none did, and before Linux 5.9, which kept none of a
// connection that is not open.
func (c *Connecting) ICMP() (e ICMPError, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return e, false
	}
	return HeardICMP(raw, c.to)
}

// HeardICMP returns the next ICMP error that a socket keeps since HearICMP, of packets to an address, and who sent it; ok is false where there is none.
func HeardICMP(raw syscall.RawConn, to netip.AddrPort) (e ICMPError, ok bool) {
	e, err := control(raw, func(fd int) (ICMPError, error) {
		packet, oob := make([]byte, maxQuoted), make([]byte, 512) // more control messages than there can be
		n, oobn, _, _, err := syscall.Recvmsg(fd, packet, oob, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if err != nil {
			return ICMPError{}, err
		}
		said, is := queued(packet[:n], parseAncillary(oob[:oobn]), to, Stamp{User: time.Now()}).(ICMPError)
		if !is {
			return ICMPError{}, unix.ENOMSG
		}
		return said, nil
	})
	return e, err == nil
}

// maxQuoted is more of a SYN than an ICMP error quotes.
const maxQuoted = 256

// settled reports whether it is known what became of the connection. said is then the error, nil if it is open.
func (c *Connecting) settled(fd int) bool {
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR) // reading clears it
	if c.said = err; err == nil && code != 0 {
		c.said = unix.Errno(code)
	}
	_, opening := unix.Getpeername(fd)
	return c.said != nil || opening == nil
}

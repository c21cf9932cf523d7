package beacon

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/sock"
)

// receiveBuffer holds what comes while a member waits for a processor, or makes figures: 256 members at 10 probes a second for half a second.
const receiveBuffer = 1 << 20

// openListener opens a socket which hears what is sent to a group and port, and nothing else, beside other sockets of this host that hear the same. What it
// sends leaves from that port.
func openListener(c *Config) (*sock.Socket, error) {
	s, err := open(c, func(fd, link int) error { return join(fd, c.Group, link) })
	if err != nil {
		return nil, fmt.Errorf("join group %s: %w", c.Group, hint(err))
	}
	conn, err := s.SyscallConn()
	if err == nil {
		_, _ = sock.SetReceiveBuffer(conn, receiveBuffer) // as much as is granted
		err = sock.TellDSCP(conn)
	}
	if err == nil {
		err = onDescriptor(s, func(fd int) error { return bind(fd, netip.AddrPortFrom(c.Group, uint16(c.Port))) })
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("listen to group %s, port %d: %w", c.Group, c.Port, err)
	}
	return s, nil
}

// openSender opens a socket for probes, on a port of its own.
func openSender(c *Config) (*sock.Socket, error) {
	s, err := open(c, func(fd, _ int) error { // nobody asks when they left
		return os.NewSyscallError("setsockopt SO_TIMESTAMPING", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, 0))
	})
	if err != nil {
		return nil, fmt.Errorf("open socket for probes: %w", hint(err))
	}
	return s, nil
}

// open opens a socket whose packets to groups go by the interface, with the TTL and the mark that are asked for, and come back to this host's other
// members. Prepare gets its descriptor and the number of the interface, 0 for the one that routes lead to.
func open(c *Config, prepare func(fd, link int) error) (*sock.Socket, error) {
	link := 0
	if c.Interface != "" {
		i, err := net.InterfaceByName(c.Interface)
		if err != nil {
			return nil, &input.Error{Field: "interface", Value: c.Interface, Remedy: "this host has no such interface; `ip link` lists them"}
		}
		link = i.Index
	}
	s, err := sock.OpenUDP(c.Group.Is6())
	if err != nil {
		return nil, err
	}
	err = onDescriptor(s, func(fd int) error { return cmp.Or(sendTo(fd, c, link), prepare(fd, link)) })
	if conn, failed := s.SyscallConn(); err == nil {
		err = cmp.Or(failed, sock.SetDSCP(conn, c.DSCP))
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// onDescriptor runs a function on a socket's descriptor.
func onDescriptor(s *sock.Socket, f func(fd int) error) error {
	conn, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = f(int(fd)) })
	return cmp.Or(err, failed)
}

// sendTo sets how a socket sends to groups (ip(7), ipv6(7)).
func sendTo(fd int, c *Config, link int) error {
	if c.Group.Is6() {
		return cmp.Or(
			os.NewSyscallError("setsockopt IPV6_MULTICAST_HOPS", unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, c.TTL)),
			os.NewSyscallError("setsockopt IPV6_MULTICAST_LOOP", unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP, 1)),
			os.NewSyscallError("setsockopt IPV6_MULTICAST_IF", unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, link)))
	}
	by := &unix.IPMreqn{Ifindex: int32(link)}
	return cmp.Or(
		os.NewSyscallError("setsockopt IP_MULTICAST_TTL", unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, c.TTL)),
		os.NewSyscallError("setsockopt IP_MULTICAST_LOOP", unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP, 1)),
		os.NewSyscallError("setsockopt IP_MULTICAST_IF", unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, by)))
}

// join makes a socket a member of a group, and deaf to groups that others of this host have joined.
func join(fd int, group netip.Addr, link int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return os.NewSyscallError("setsockopt SO_REUSEADDR", err)
	}
	if group.Is6() {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_ALL, 0) // since Linux 4.20; what is bound to a group hears no other
		return os.NewSyscallError("setsockopt IPV6_JOIN_GROUP", unix.SetsockoptIPv6Mreq(fd, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP,
			&unix.IPv6Mreq{Multiaddr: group.As16(), Interface: uint32(link)}))
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0)
	return os.NewSyscallError("setsockopt IP_ADD_MEMBERSHIP", unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP,
		&unix.IPMreqn{Multiaddr: group.As4(), Ifindex: int32(link)}))
}

func bind(fd int, local netip.AddrPort) error {
	var address unix.Sockaddr = &unix.SockaddrInet6{Port: int(local.Port()), Addr: local.Addr().As16()}
	if local.Addr().Is4() {
		address = &unix.SockaddrInet4{Port: int(local.Port()), Addr: local.Addr().As4()}
	}
	return os.NewSyscallError("bind", unix.Bind(fd, address))
}

// hint says what to do where the kernel knows no interface for a group.
func hint(err error) error {
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.ENETUNREACH) {
		return fmt.Errorf("%w; no route leads to the group, name an interface", err)
	}
	return err
}

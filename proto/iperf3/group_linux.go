package iperf3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// interfaceOf is the interface that has an address of this host.
func interfaceOf(local netip.Addr) (*net.Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	for _, i := range all {
		addresses, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap().WithZone("") == local.Unmap().WithZone("") {
				return &i, nil
			}
		}
	}
	return nil, fmt.Errorf("no interface has the address %s", local)
}

// joinGroup opens the socket that hears the datagrams of one sender to a group, on the interface of an address of this host. The kernel gives it what
// comes from there alone (ip(7), __udp_is_mcast_sock).
func joinGroup(ctx context.Context, p Params, local netip.Addr, sender netip.AddrPort) (net.Conn, error) {
	link, err := interfaceOf(local)
	if err != nil {
		return nil, err
	}
	group, err := net.ResolveUDPAddr("udp", p.group().text(link.Name)) // of numbers alone
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{LocalAddr: group, Control: func(network, address string, c syscall.RawConn) error {
		if err := shareAddress(network, address, c); err != nil {
			return err
		}
		if err := joinOn(c, group.AddrPort().Addr().Unmap(), link.Index); err != nil {
			return err
		}
		_, err := setUp(c, p, true)
		return err
	}}
	conn, err := dialer.DialContext(ctx, "udp", sender.String())
	if err != nil {
		return nil, fmt.Errorf("join %s on %s: %w", p.group().Address, link.Name, err)
	}
	return conn, nil
}

// joinOn makes a socket a member of a group, and deaf to groups that others of this host have joined.
func joinOn(c syscall.RawConn, group netip.Addr, link int) (err error) {
	controlled := c.Control(func(fd uintptr) {
		if group.Is4() {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0) // what is bound to a group hears no other
			by := &unix.IPMreqn{Multiaddr: group.As4(), Ifindex: int32(link)}
			err = os.NewSyscallError("setsockopt IP_ADD_MEMBERSHIP", unix.SetsockoptIPMreqn(int(fd), unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, by))
			return
		}
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_ALL, 0) // since Linux 4.20
		by := &unix.IPv6Mreq{Multiaddr: group.As16(), Interface: uint32(link)}
		err = os.NewSyscallError("setsockopt IPV6_JOIN_GROUP", unix.SetsockoptIPv6Mreq(int(fd), unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP, by))
	})
	return errors.Join(controlled, err)
}

// sendToGroups sets how far a socket sends to groups, and by which interface.
func sendToGroups(c syscall.RawConn, six bool, hops, link int) (err error) {
	if six {
		err = cmp.Or(sock.SetInt(c, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, hops), sock.SetInt(c, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, link))
		return os.NewSyscallError("setsockopt IPV6_MULTICAST_IF", err)
	}
	if err := sock.SetInt(c, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, hops); err != nil {
		return os.NewSyscallError("setsockopt IP_MULTICAST_TTL", err)
	}
	controlled := c.Control(func(fd uintptr) {
		err = os.NewSyscallError("setsockopt IP_MULTICAST_IF", unix.SetsockoptIPMreqn(int(fd), unix.IPPROTO_IP, unix.IP_MULTICAST_IF, &unix.IPMreqn{Ifindex: int32(link)}))
	})
	return errors.Join(controlled, err)
}

// reconnect has a UDP socket that is connected send elsewhere, and hear from there alone; its own address and port stay (connect(2)).
func reconnect(conn *net.UDPConn, to netip.AddrPort, link int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var address unix.Sockaddr
	if a := to.Addr().Unmap(); a.Is4() {
		address = &unix.SockaddrInet4{Port: int(to.Port()), Addr: a.As4()}
	} else {
		six := &unix.SockaddrInet6{Port: int(to.Port()), Addr: a.As16()}
		if a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() {
			six.ZoneId = uint32(link)
		}
		address = six
	}
	controlled := raw.Control(func(fd uintptr) { err = os.NewSyscallError("connect", unix.Connect(int(fd), address)) })
	return errors.Join(controlled, err)
}

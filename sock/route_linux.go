package sock

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Source returns the address that packets to dst would be sent from, or why there is no way to dst. It sends nothing.
func Source(dst netip.Addr) (netip.Addr, error) {
	conn, err := routeTo(dst)
	if err != nil {
		return netip.Addr{}, err
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// RouteMTU returns the largest IP packet in bytes that the kernel would send to dst. learnt is true when that is less
// than the interface carries: then a router on the way has said so, or the route was configured to. Otherwise it says
// nothing of the path behind the first link. It sends nothing.
func RouteMTU(dst netip.Addr) (bytes int, learnt bool, err error) {
	conn, err := routeTo(dst)
	if err != nil {
		return 0, false, err
	}
	defer conn.Close()
	c, err := conn.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	level, option := unix.IPPROTO_IP, unix.IP_MTU
	if dst.Unmap().Is6() {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU
	}
	if bytes, err = getInt(c, level, option); err != nil {
		return 0, false, fmt.Errorf("read MTU of route to %s: %w", dst, err)
	}
	link, err := interfaceWith(conn.LocalAddr().(*net.UDPAddr).IP)
	return bytes, err == nil && bytes < min(link.MTU, maxIPv4), err
}

// maxIPv4 is the largest packet that IPv4 has a length for; loopback has an MTU one above it.
const maxIPv4 = 65535

// routeTo connects a UDP socket, which looks up the route and sends nothing.
func routeTo(dst netip.Addr) (*net.UDPConn, error) {
	const discard = 9 // any port will do
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(dst, discard)))
	if err != nil {
		return nil, fmt.Errorf("find route to %s: %w", dst, errors.Unwrap(err))
	}
	return conn, nil
}

// interfaceWith returns the interface that has an address.
func interfaceWith(address net.IP) (*net.Interface, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("list addresses of %s: %w", i.Name, err)
		}
		for _, a := range addresses {
			if network, ok := a.(*net.IPNet); ok && network.IP.Equal(address) {
				return &i, nil
			}
		}
	}
	return nil, fmt.Errorf("no interface has %s", address)
}

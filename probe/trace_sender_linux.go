package probe

import (
	"cmp"
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// openTraceSender opens the socket that probes leave by, on the port, or under the identifier, of the flow; raw says that raw sockets are allowed.
func openTraceSender(t Trace, flow *traceFlow, raw bool) (s *sock.Socket, err error) {
	wanted := flow.wantedPorts(t, hostKey())
	for i, port := range wanted {
		local := netip.AddrPortFrom(flow.from.Addr(), port)
		s, local, err = openTracePort(t, flow, raw, local)
		if err == nil && port != 0 && port != local.Port() { // an identifier that another has
			s.Close()
			err = unix.EADDRINUSE
		}
		if err == nil {
			flow.from, flow.strayed = local, i > 0
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			break
		}
	}
	return s, err
}

// openTracePort opens that socket by a port, 0: a free one, and returns the one that it got.
func openTracePort(t Trace, flow *traceFlow, raw bool, local netip.AddrPort) (s *sock.Socket, _ netip.AddrPort, err error) {
	port, ipv6 := local.Port(), local.Addr().Is6()
	switch t.Protocol {
	case traceTCP:
		if t.Multipath {
			s, port, err = sock.OpenSYNs(local, uint16(t.Port))
		} else {
			s, port, err = sock.OpenSYN(local)
		}
	case traceICMP:
		open := sock.OpenEchoAs
		if t.Multipath && raw {
			open = sock.OpenRawEcho
		}
		if s, err = open(ipv6, port); err == nil {
			if port = s.Ident(); port != 0 {
				flow.idents = t.Multipath
			} else {
				port, err = s.BindTo(local)
			}
		}
	default:
		if s, err = sock.OpenUDP(ipv6); err == nil {
			port, err = s.BindTo(local)
		}
	}
	if err == nil {
		conn, _ := s.SyscallConn()
		_ = sock.HearExtensions(conn) // an old kernel's error queue has none
		err = cmp.Or(sock.SetDontFragment(conn), sock.SetDSCP(conn, t.DSCP))
		if err == nil && t.Middlebox {
			err = sock.SetECN(conn, ecnCapable)
		}
	}
	if err != nil {
		if s != nil {
			s.Close()
		}
		return nil, local, err
	}
	return s, netip.AddrPortFrom(local.Addr(), port), nil
}

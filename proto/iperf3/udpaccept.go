package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// udpAcceptor opens the streams of a UDP test at the server. One shared socket, which hears the client's host only, gets
// the first datagram of each stream; a socket of its own, bound to the same address and connected to the client's port,
// too, then carries the stream. The kernel gives a datagram to the socket that fits its source best (udp_lookup):
//
//	client                      shared socket, port P        connected sockets, port P
//	"9876"  ------------------> |
//	                            | new connected socket ----> |
//	"6789"  <----------------------------------------------- |
//	data    <----------------------------------------------> |
//
// Only the host that holds the control connection may open streams: otherwise a forged source address would turn a
// reverse test against a third party. Nor does a test of one host take the first datagrams of another's.
type udpAcceptor struct {
	shared *net.UDPConn
	client netip.Addr
	params Params
	known  map[netip.AddrPort]bool
}

func newUDPAcceptor(ctx context.Context, ctl net.Conn, p Params) (*udpAcceptor, error) {
	client := addrPort(ctl.RemoteAddr()).Addr()
	dialer := net.Dialer{LocalAddr: net.UDPAddrFromAddrPort(addrPort(ctl.LocalAddr())), Control: shareAddress}
	const anyPort = "0" // of the client's host: Linux takes a connection to port 0 for that
	conn, err := dialer.DialContext(ctx, "udp", net.JoinHostPort(client.String(), anyPort))
	if err != nil {
		return nil, fmt.Errorf("listen for UDP streams: %w", err)
	}
	return &udpAcceptor{shared: conn.(*net.UDPConn), client: client, params: p, known: map[netip.AddrPort]bool{}}, nil
}

func (a *udpAcceptor) close() { a.shared.Close() }

// accept waits for the first datagrams of n streams and answers each; it returns the connections that it made.
func (a *udpAcceptor) accept(ctx context.Context, events <-chan event, n int) (conns []net.Conn, err error) {
	found := make(chan netip.AddrPort)
	failed := make(chan error, 1)
	quit := make(chan struct{})
	go func() {
		for range n {
			from, err := a.first()
			if err != nil {
				failed <- err
				return
			}
			select {
			case found <- from:
			case <-quit:
			}
		}
		failed <- nil
	}()
	defer func() { // the goroutine ends here, whatever it waits for
		close(quit)
		a.shared.SetReadDeadline(past)
		<-failed
	}()
	for len(conns) < n {
		select {
		case from := <-found:
			conn, err := a.connect(ctx, from)
			if err != nil {
				return conns, err
			}
			conns = append(conns, conn)
		case err := <-failed:
			failed <- nil
			return conns, fmt.Errorf("wait for UDP stream %d: %w", len(conns)+1, err)
		case e := <-events:
			return conns, e.early()
		case <-ctx.Done():
			return conns, context.Cause(ctx)
		}
	}
	return conns, nil
}

// first returns the source of the next handshake datagram from the client that is not a repetition.
func (a *udpAcceptor) first() (netip.AddrPort, error) {
	var buf [1 << 16]byte
	for {
		n, from, err := a.shared.ReadFromUDPAddrPort(buf[:])
		if err != nil {
			return from, err
		}
		from = unmap(from)
		if n == len(udpHello) && from.Addr() == a.client && !a.known[from] {
			a.known[from] = true
			return from, nil
		}
	}
}

func (a *udpAcceptor) connect(ctx context.Context, client netip.AddrPort) (net.Conn, error) {
	var setUpErr error
	dialer := net.Dialer{LocalAddr: a.shared.LocalAddr()}
	dialer.Control = func(network, address string, c syscall.RawConn) error {
		if err := shareAddress(network, address, c); err != nil {
			return err
		}
		if a.params.train() != nil {
			if err := stampArrivals(c); err != nil {
				return err
			}
		}
		_, setUpErr = setUp(c, a.params, true)
		return setUpErr
	}
	conn, err := dialer.DialContext(ctx, "udp", net.JoinHostPort(client.Addr().String(), strconv.Itoa(int(client.Port()))))
	if err != nil {
		if setUpErr != nil {
			return nil, fmt.Errorf("%w: %w", err, &PeerError{Code: codeSetBuffer})
		}
		return nil, fmt.Errorf("%w: %w", err, &PeerError{Code: codeStreamAccept})
	}
	if _, err := conn.Write(udpAnswer[:]); err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
		conn.Close()
		return nil, fmt.Errorf("answer UDP stream: %w", err)
	}
	return conn, nil
}

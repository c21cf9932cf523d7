package iperf3

import (
	"context"
	"net"
	"syscall"

	"github.com/pathwise-net/pathwise/sock"
)

// label gives a socket of UDP the flow label that is asked for.
func (r *clientRun) label(conn *net.UDPConn) error {
	if r.config.FlowLabel == 0 {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	return sock.ConnectFlow(raw, r.report.Remote, r.config.FlowLabel)
}

func (r *clientRun) dialStream(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: r.config.Timeout, KeepAlive: -1}
	dialer.SetMultipathTCP(r.config.MPTCP)
	dialer.Control = func(_, _ string, c syscall.RawConn) error {
		notes, err := setUp(c, r.params, false)
		for _, note := range notes {
			r.note(note)
		}
		if err == nil && r.config.Train != nil {
			err = stampArrivals(c)
		}
		if err == nil && r.config.FlowLabel > 0 && r.config.Proto == TCP {
			err = sock.ConnectFlow(c, r.report.Remote, r.config.FlowLabel)
		}
		return err
	}
	conn, err := dialer.DialContext(ctx, r.config.Proto, r.report.Remote.String())
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(past) })()
	if udp, ok := conn.(*net.UDPConn); ok {
		if err := r.label(udp); err != nil {
			conn.Close()
			return nil, err
		}
		err = connectUDP(udp, udpConnectLimit)
	} else {
		err = r.greet(conn.(*net.TCPConn))
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

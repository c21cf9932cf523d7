package workload

import (
	"context"
	"flag"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// options are what a program may set on its sockets. Whatever is not asked for is left to the kernel, but for Nagle's
// algorithm: Go switches it off, and here it is on unless nodelay says otherwise, as in C.
type options struct {
	nodelay      bool
	send, window *sizeValue // SO_SNDBUF, SO_RCVBUF; 0: the kernel tunes them
	mss          int
	congestion   string
	pacing       *rateValue // SO_MAX_PACING_RATE
}

func optionFlags(f *flag.FlagSet) *options {
	o := &options{}
	f.BoolVar(&o.nodelay, "nodelay", false, "switch Nagle's algorithm off")
	o.send = sizeFlag(f, "sndbuf", 0, "send buffer")
	o.window = sizeFlag(f, "rcvbuf", 0, "receive buffer")
	f.IntVar(&o.mss, "mss", 0, "largest segment")
	f.StringVar(&o.congestion, "cc", "cubic", "congestion control; empty: the host's own")
	o.pacing = rateFlag(f, "pacing", "fastest that the kernel may send")
	return o
}

// set applies what must stand before a connection begins: the window that is offered, and its scale, follow from it.
func (o *options) set(_, _ string, c syscall.RawConn) error {
	if *o.send > 0 {
		if _, err := sock.SetSendBuffer(c, int(*o.send)); err != nil {
			return err
		}
	}
	if *o.window > 0 {
		if _, err := sock.SetReceiveBuffer(c, int(*o.window)); err != nil {
			return err
		}
	}
	if o.mss > 0 {
		if err := sock.SetInt(c, unix.IPPROTO_TCP, unix.TCP_MAXSEG, o.mss); err != nil {
			return fmt.Errorf("set largest segment: %w", err)
		}
	}
	if *o.pacing > 0 {
		return sock.SetMaxPacing(c, uint64(*o.pacing))
	}
	return nil
}

// connected applies what a connection is given once it stands.
func (o *options) connected(c *net.TCPConn) error {
	if err := c.SetNoDelay(o.nodelay); err != nil {
		return fmt.Errorf("set Nagle's algorithm: %w", err)
	}
	if o.congestion == "" {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("open connection: %w", err)
	}
	return sock.SetCongestion(raw, o.congestion)
}

// dial connects, and says how long that took.
func (o *options) dial(ctx context.Context, address string) (*net.TCPConn, time.Duration, error) {
	d := net.Dialer{Control: o.set, KeepAlive: -1}
	began := time.Now()
	c, err := d.DialContext(ctx, "tcp", address)
	took := time.Since(began)
	if err != nil {
		return nil, took, fmt.Errorf("connect to %s: %w", address, err)
	}
	if err := o.connected(c.(*net.TCPConn)); err != nil {
		c.Close()
		return nil, took, err
	}
	return c.(*net.TCPConn), took, nil
}

// listen opens a port, and says so. The listener closes when ctx ends.
func (o *options) listen(ctx context.Context, port int) (*net.TCPListener, error) {
	l := net.ListenConfig{Control: o.set, KeepAlive: -1}
	c, err := l.Listen(ctx, "tcp", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	context.AfterFunc(ctx, func() { c.Close() })
	listening(c.Addr())
	return c.(*net.TCPListener), nil
}

// accept takes the next connection. It closes when ctx ends.
func (o *options) accept(ctx context.Context, l *net.TCPListener) (*net.TCPConn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	if err := o.connected(c); err != nil {
		c.Close()
		return nil, err
	}
	context.AfterFunc(ctx, func() { c.Close() })
	return c, nil
}

package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/twamp"
	"github.com/pathwise-net/pathwise/sock"
)

// owdSession is who answers the packets of one way, and what they are.
type owdSession struct {
	ctx     context.Context // it ends when the far end does, too
	to      netip.AddrPort
	packets reflector
	mode    string // letter of the mode that both ends agreed on
	end     func() error
}

// begin begins a session, whose packets a socket sends.
func (p OWD) begin(ctx context.Context, w way, socket *sock.Socket, clock measure.Clock) (*owdSession, error) {
	to := netip.AddrPortFrom(w.to, uint16(p.Port))
	if p.Proto == protoTWAMP {
		return p.beginTWAMP(ctx, to, socket, clock)
	}
	setDefault(&p.Mode, modeOpen)
	packets := newStampPackets(p.Rand, p.Size, clock, p.key, p.asks())
	packets.marks = p.turns()
	return &owdSession{ctx: ctx, to: to, packets: packets, mode: p.Mode, end: func() error { return nil }}, nil
}

var errServerGone = errors.New("the server closed the control connection before the end")

// beginTWAMP asks for a session on a control connection, which is open until the end of the session.
func (p OWD) beginTWAMP(ctx context.Context, to netip.AddrPort, socket *sock.Socket, clock measure.Clock) (*owdSession, error) {
	test, err := twamp.Client{Mode: controlModes[p.Mode], KeyID: p.KeyID, Secret: p.key}.Connect(ctx, []netip.AddrPort{to})
	if err != nil {
		return nil, fmt.Errorf("open control connection to %v: %w", to, err)
	}
	session, err := p.requestTWAMP(test, socket)
	if err != nil {
		test.Close()
		return nil, err
	}
	until, stop := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	go func() { // ends with the connection
		defer close(gone)
		<-test.Done()
		if ctx.Err() == nil { // else the connection was closed for that
			stop(errServerGone)
		}
	}()
	return &owdSession{
		ctx: until, to: netip.AddrPortFrom(to.Addr(), session.Remote.Port()), packets: newTWAMPPackets(session, clock), mode: modeLetter(test.Mode),
		end: func() error {
			err := test.Stop()
			test.Close()
			<-gone
			stop(nil)
			return err
		},
	}, nil
}

// requestTWAMP asks for a session whose packets a socket sends, and starts it. Answers have the mark of the packets.
func (p OWD) requestTWAMP(test *twamp.Test, socket *sock.Socket) (*twamp.Session, error) {
	least := twamp.ReflectionBytes(test.Mode, 0)
	if p.Size < least {
		return nil, &input.Error{Field: "size", Value: fmt.Sprint(p.Size), Remedy: fmt.Sprintf("in %v mode give at least %d", test.Mode, least)}
	}
	port, err := takePort(socket)
	if err != nil {
		return nil, err
	}
	session, err := test.Request(twamp.Terms{Port: port, Padding: p.Size - twamp.SenderBytes(test.Mode, 0), DSCP: p.DSCP, Timeout: p.Timeout})
	if err != nil {
		return nil, err
	}
	return session, test.Start()
}

// takePort binds a socket to a free port, or returns the one that it has.
func takePort(socket *sock.Socket) (port uint16, err error) {
	conn, err := socket.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := conn.Control(func(fd uintptr) {
		var any unix.Sockaddr = &unix.SockaddrInet4{}
		if domain, _ := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN); domain == unix.AF_INET6 {
			any = &unix.SockaddrInet6{}
		}
		if err = unix.Bind(int(fd), any); err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: it is bound
			err = os.NewSyscallError("bind", err)
			return
		}
		var bound unix.Sockaddr
		bound, err = unix.Getsockname(int(fd))
		switch a := bound.(type) {
		case *unix.SockaddrInet4:
			port = uint16(a.Port)
		case *unix.SockaddrInet6:
			port = uint16(a.Port)
		}
	})
	return port, errors.Join(failed, err)
}

// modeLetter is the letter of a mode.
func modeLetter(m control.Mode) string {
	for letter, mode := range controlModes {
		if mode == m.Protection() {
			return letter
		}
	}
	return ""
}

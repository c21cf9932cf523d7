package reach

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
	"github.com/pathwise-net/pathwise/sock"
)

// mostVisitors are connections that one end has on its fresh port at the same time from the other end's address, and as many from other addresses: those
// of who scans the host meanwhile, or of the other end where addresses are translated.
const mostVisitors = 8

// fresh are the ports of one end that are open for one test.
type fresh struct {
	tcp *net.TCPListener
	udp *net.UDPConn
	own string // ReachHere at the caller, ReachThere at the responder

	ctx   context.Context // of the connections that come
	end   context.CancelFunc
	group sync.WaitGroup
	mu    sync.Mutex
	came  tryCame
}

// openFresh opens ports that the kernel chooses, at an address of this host.
func openFresh(own string, at netip.Addr) (*fresh, error) {
	tcp, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
	if err != nil {
		return nil, err
	}
	udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
	if err != nil {
		tcp.Close()
		return nil, err
	}
	f := &fresh{tcp: tcp, udp: udp, own: own}
	f.ctx, f.end = context.WithCancel(context.Background()) // until close
	return f, nil
}

func (f *fresh) ports() ports {
	return ports{tcp: f.tcp.Addr().(*net.TCPAddr).Port, udp: f.udp.LocalAddr().(*net.UDPAddr).Port}
}

// close ends what answer began, and says what came.
func (f *fresh) close() tryCame {
	f.end()
	f.tcp.Close()
	f.udp.Close()
	f.group.Wait()
	return f.came
}

// answer answers on both ports until close. No datagram is sent to another address than peer.
func (f *fresh) answer(cookie string, peer netip.Addr) {
	f.group.Go(func() { f.accept(cookie, peer) })
	f.group.Go(func() { f.reflect(cookie, peer) })
}

// note counts what came, and returns how many with the right word there are now.
func (f *fresh) note(c *measure.ReachCame, right bool, from netip.AddrPort) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !right {
		c.Wrong++
		return c.Right
	}
	c.Right++
	if c.Right == 1 {
		c.From = from.String()
	}
	return c.Right
}

// accept answers connections until close, and closes those for which there is no place: who opens many takes no place of the peer's.
func (f *fresh) accept(cookie string, peer netip.Addr) {
	places := map[bool]chan struct{}{true: make(chan struct{}, mostVisitors), false: make(chan struct{}, mostVisitors)} // of the peer's address, and of others
	for {
		conn, err := f.tcp.AcceptTCP()
		if err != nil {
			return
		}
		place := places[addrPort(conn.RemoteAddr()).Addr() == peer]
		select {
		case place <- struct{}{}:
			f.group.Go(func() {
				defer func() { <-place }()
				f.visit(conn, cookie)
			})
		default:
			conn.Close()
		}
	}
}

// visit hears what is said on a connection, and answers the right word.
func (f *fresh) visit(conn *net.TCPConn, cookie string) {
	defer conn.Close()
	defer context.AfterFunc(f.ctx, func() { conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(openTimeout)) // in which a lost segment is sent again
	said := make([]byte, wordBytes)
	_, err := io.ReadFull(conn, said)
	right := err == nil && same(said, word(cookie, "tcp", f.own, asks))
	f.note(&f.came.TCP, right, addrPort(conn.RemoteAddr()))
	if right {
		_, _ = io.WriteString(conn, word(cookie, "tcp", f.own, answers)) // to who may be gone
	}
}

// reflect answers datagrams, each right one once.
func (f *fresh) reflect(cookie string, peer netip.Addr) {
	packet := make([]byte, wordBytes+1)
	for {
		n, from, err := f.udp.ReadFromUDPAddrPort(packet)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an ICMP error that an answer met
		}
		right := same(packet[:n], word(cookie, "udp", f.own, asks))
		known := f.note(&f.came.UDP, right, unmapped(from))
		if right && from.Addr().Unmap() == peer && known <= datagrams {
			_, _ = f.udp.WriteToUDPAddrPort([]byte(word(cookie, "udp", f.own, answers)), from)
		}
	}
}

// addrPort is the address of an end of a TCP connection, with its zone.
func addrPort(a net.Addr) netip.AddrPort { return unmapped(a.(*net.TCPAddr).AddrPort()) }

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

func same(said []byte, word string) bool { return subtle.ConstantTimeCompare(said, []byte(word)) == 1 }

// try connects and sends to fresh ports of the other end. from is the address of this host that the other end knows.
func try(ctx context.Context, cookie, theirs string, from, peer netip.Addr, to ports) (sent trySent) {
	var group sync.WaitGroup
	group.Go(func() { sent.TCP = tryTCP(ctx, cookie, theirs, from, netip.AddrPortFrom(peer, uint16(to.tcp))) })
	group.Go(func() { sent.UDP = tryUDP(ctx, cookie, theirs, from, netip.AddrPortFrom(peer, uint16(to.udp))) })
	group.Wait()
	return sent
}

func tryTCP(ctx context.Context, cookie, theirs string, from netip.Addr, to netip.AddrPort) measure.ReachSent {
	ipv6 := sock.FamilyOf(to.Addr()) == sock.IPv6
	conn, err := sock.BeginConnect(to, func(c syscall.RawConn) error {
		return errors.Join(sock.HearICMP(ipv6)(c), sock.LeaveFrom(from)(c))
	})
	if err != nil {
		return notSent(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(conn.Began.Add(openTimeout))
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // fails only on a closed socket
	if err := conn.Wait(); err != nil {
		said, isICMP := conn.ICMP()
		return outcomeOf(err, said, isICMP)
	}
	sent := measure.ReachSent{Outcome: measure.PortOpen}
	if ctx.Err() == nil {
		_ = conn.SetDeadline(time.Now().Add(wordTimeout))
	}
	answer := make([]byte, wordBytes)
	if _, err := io.WriteString(conn, word(cookie, "tcp", theirs, asks)); err != nil {
		return sent
	}
	_, err = io.ReadFull(conn, answer)
	sent.Answered = err == nil && same(answer, word(cookie, "tcp", theirs, answers))
	return sent
}

func tryUDP(ctx context.Context, cookie, theirs string, from netip.Addr, to netip.AddrPort) measure.ReachSent {
	hear := sock.HearICMP(sock.FamilyOf(to.Addr()) == sock.IPv6)
	dialer := net.Dialer{LocalAddr: net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)),
		Control: func(_, _ string, c syscall.RawConn) error { return hear(c) }}
	conn, err := dialer.DialContext(ctx, "udp", to.String())
	if err != nil {
		return notSent(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	sent := measure.ReachSent{Outcome: measure.PortSilent}
	answer := make([]byte, wordBytes+1)
	for i := range datagrams {
		wait := datagramGap
		if i == datagrams-1 {
			wait = wordTimeout
		}
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		_, err := io.WriteString(conn, word(cookie, "udp", theirs, asks))
		n := 0
		if err == nil {
			n, err = conn.Read(answer)
		}
		switch {
		case err == nil:
			sent.Outcome = measure.PortOpen
			if sent.Answered = same(answer[:n], word(cookie, "udp", theirs, answers)); sent.Answered {
				return sent
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
		case ctx.Err() != nil:
			return sent
		default:
			raw, _ := conn.(*net.UDPConn).SyscallConn() // fails on a nil connection alone
			said, isICMP := sock.HeardICMP(raw, to)
			return outcomeOf(err, said, isICMP)
		}
	}
	return sent
}

// notSent is what a kernel says that does not let a packet out.
func notSent(err error) measure.ReachSent {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return measure.ReachSent{Outcome: measure.PortForbidden, Reason: reasonOf(err)}
	}
	return measure.ReachSent{Outcome: measure.PortUnreachable, Reason: reasonOf(err)}
}

// outcomeOf is what became of something that was sent. ICMP that says that nobody listens is the refusal of UDP.
func outcomeOf(err error, said sock.ICMPError, isICMP bool) measure.ReachSent {
	switch {
	case isICMP && said.Reason() == sock.PortUnreachable:
		return measure.ReachSent{Outcome: measure.PortRefused, Reason: string(said.Reason()), By: said.Offender.String()}
	case isICMP:
		return measure.ReachSent{Outcome: measure.PortUnreachable, Reason: string(said.Reason()), By: said.Offender.String()}
	case errors.Is(err, unix.ECONNREFUSED):
		return measure.ReachSent{Outcome: measure.PortRefused}
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, unix.ETIMEDOUT):
		return measure.ReachSent{Outcome: measure.PortSilent}
	}
	return notSent(err)
}

// reasonOf is the system's own word for an error.
func reasonOf(err error) string {
	var number unix.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return jsonlines.Printable(err.Error())
}

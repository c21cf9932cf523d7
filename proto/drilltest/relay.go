package drilltest

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// manner is how a peer vanishes.
type manner int

const (
	silence manner = iota // its host does: no byte comes any more, and no word of it
	fin                   // it closes its connections in order
	reset                 // it breaks them off
)

func (m manner) String() string { return [...]string{"silence", "FIN", "RST"}[m] }

// cut is when and how it does.
type cut struct {
	how    manner
	after  int64 // bytes
	unread bool  // of a silence: nothing is read either, so that both ends' buffers fill
}

// never is the point of a relay that does not cut.
const never = 1 << 62

// relay passes connections on to a server, until so many bytes have passed on all of them, both ways together.
//
//	client  <-- near -- relay -- far -->  server
type relay struct {
	at netip.AddrPort
	cut
	passed atomic.Int64

	to       netip.AddrPort
	t        *testing.T
	patience time.Duration // for a silent end to be given up
	listener net.Listener
	packets  *net.UDPConn // nil: the relay passes none

	mu    sync.Mutex
	isCut bool
	open  []*net.TCPConn // of both ends
	done  chan struct{}  // closed by the cut
	over  chan struct{}  // closed by close
	group sync.WaitGroup // all goroutines
	far   atomic.Int64   // how many of them read from the server
}

func newRelay(t *testing.T, to netip.AddrPort, c cut, s Subject) *relay {
	t.Helper()
	l, packets, err := listen(s.Datagrams)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{at: l.Addr().(*net.TCPAddr).AddrPort(), cut: c, to: to, t: t, patience: s.Limit, listener: l, packets: packets,
		done: make(chan struct{}), over: make(chan struct{})}
	if packets != nil {
		r.group.Go(r.passDatagrams)
	}
	r.group.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			r.join(near.(*net.TCPConn))
		}
	})
	return r
}

// listen listens on a free port of loopback, and for datagrams at the same port where they are asked for. A port that is free for TCP may be
// taken for datagrams, such as by a client of another drill: then it is another port's turn.
func listen(datagrams bool) (l net.Listener, packets *net.UDPConn, err error) {
	const tries = 20
	for range tries {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil || !datagrams {
			return l, nil, err
		}
		if packets, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(l.Addr().(*net.TCPAddr).AddrPort())); err == nil {
			return l, packets, nil
		}
		l.Close()
	}
	return nil, nil, err
}

// join connects a client to the server. After the cut nobody is there: who connects then meets what the cut left.
func (r *relay) join(near *net.TCPConn) {
	r.mu.Lock()
	gone := r.isCut
	r.mu.Unlock()
	if gone && r.how != silence {
		near.Close()
		return
	}
	if gone {
		r.keep(near)
		return
	}
	conn, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(r.to))
	if err != nil {
		r.t.Errorf("connect relay: %v", err)
		near.Close()
		return
	}
	r.keep(near)
	r.keep(conn)
	r.group.Go(func() { r.pass(conn, near) })
	r.far.Add(1)
	r.group.Go(func() { defer r.far.Add(-1); r.pass(near, conn) })
	if r.after == 0 {
		r.cutAll()
	}
}

// keep has the cut and close do to a connection what they do to all. What they did before it was kept is done now.
func (r *relay) keep(c *net.TCPConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.over:
		c.Close()
	default:
		if r.isCut {
			r.cutOne(c)
		}
	}
	r.open = append(r.open, c)
}

// pass copies until the source ends or the relay cuts. After the cut it reads on, to see when the source gives up.
func (r *relay) pass(to, from *net.TCPConn) {
	b, waited := make([]byte, 64<<10), false
	for {
		n, err := from.Read(b)
		if n > 0 && !r.cutNow() {
			upTo := r.passed.Add(int64(n))
			let := min(int64(n), max(0, r.after-upTo+int64(n)))
			_, _ = to.Write(b[:let]) // to who may be gone
			if upTo >= r.after {
				r.cutAll()
			}
		}
		if err != nil {
			if !r.cutNow() {
				_ = to.CloseWrite()
			}
			return
		}
		if r.cutNow() && r.how == silence && r.unread && !waited {
			waited = true
			select { // by then it has been given up, and what it wrote ends
			case <-time.After(r.patience):
			case <-r.over:
			}
		}
	}
}

func (r *relay) cutNow() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// cutAll has both ends' peer vanish.
func (r *relay) cutAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isCut {
		return
	}
	r.isCut = true
	close(r.done)
	for _, c := range r.open {
		r.cutOne(c)
	}
}

func (r *relay) cutOne(c *net.TCPConn) {
	switch r.how {
	case fin:
		_ = c.CloseWrite()
	case reset:
		_ = c.SetLinger(0)
		c.Close()
	}
}

// awaitServer waits until the server has closed its ends of all connections, which has to be within its limit.
func (r *relay) awaitServer(t *testing.T, what string) {
	late := time.Now().Add(2*r.patience + slack) // of an unread one the relay looks after one patience
	for ; r.far.Load() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Errorf("%s: the server holds its end for longer than the stated %v", what, r.patience)
			return
		}
	}
}

// close ends the relay and waits for its goroutines.
func (r *relay) close() {
	r.listener.Close()
	if r.packets != nil {
		r.packets.Close()
	}
	close(r.over)
	r.mu.Lock()
	for _, c := range r.open {
		c.Close()
	}
	r.mu.Unlock()
	r.group.Wait()
}

// passDatagrams passes those of clients on, each by a socket of its own, and the answers back, until the cut or close.
func (r *relay) passDatagrams() {
	b := make([]byte, 64<<10)
	sockets := map[netip.AddrPort]*net.UDPConn{}
	defer func() {
		for _, one := range sockets {
			one.Close()
		}
	}()
	for {
		n, from, err := r.packets.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || r.cutNow() {
			continue
		}
		one := sockets[from]
		if one == nil {
			if one, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.to)); err != nil {
				r.t.Errorf("connect relay of datagrams: %v", err)
				return
			}
			sockets[from] = one
			r.group.Go(func() { r.answer(one, from) })
		}
		_, _ = one.Write(b[:n])
	}
}

// answer passes datagrams back to a client until its socket is closed.
func (r *relay) answer(socket *net.UDPConn, to netip.AddrPort) {
	b := make([]byte, 64<<10)
	for {
		n, err := socket.Read(b)
		if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err == nil && !r.cutNow() {
			_, _ = r.packets.WriteToUDPAddrPort(b[:n], to)
		}
	}
}

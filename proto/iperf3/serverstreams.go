package iperf3

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// offer takes a data connection from the accepting goroutine.
func (s *serverTest) offer(a arrival) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		a.conn.Close()
		return
	}
	select {
	case s.conns <- a:
	default: // more than any test has
		a.conn.Close()
	}
}

// dropOffers closes data connections that nobody took.
func (s *serverTest) dropOffers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for {
		select {
		case a := <-s.conns:
			a.conn.Close()
		default:
			return
		}
	}
}

// openStreams sends CREATE_STREAMS and gathers the data connections, the client's senders first.
func (s *serverTest) openStreams(ctx context.Context) (<-chan event, error) {
	receivers := slices.Repeat([]bool{!bool(s.params.Reverse)}, int(s.params.Parallel))
	if s.params.Bidir {
		receivers = append(receivers, slices.Repeat([]bool{false}, int(s.params.Parallel))...)
	}
	gather := s.acceptTCP
	if s.params.UDP {
		unlock, err := s.server.lockUDP(ctx, s.ctl.conn)
		if err != nil {
			return nil, err
		}
		defer unlock()
		listener, err := newUDPAcceptor(ctx, s.ctl.conn, s.params)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, &PeerError{Code: codeStreamListen})
		}
		defer listener.close()
		gather = listener.accept
	} else {
		s.server.expect(s)
		defer s.server.unexpect(s)
	}
	if err := s.ctl.send(CreateStreams); err != nil {
		return nil, err
	}
	if err := s.ctl.disarm(); err != nil {
		return nil, err
	}
	events := s.ctl.listen(func(State) {
		if s.t.running.Load() { // see the package's comment
			s.t.awaitDataAcks()
			s.t.noteSent()
		}
	})
	due, cancel := context.WithTimeoutCause(ctx, s.streamsLimit(len(receivers)),
		fmt.Errorf("wait for %d streams: %w", len(receivers), ErrPeerSilent))
	defer cancel()
	conns, err := gather(due, events, len(receivers))
	if s.params.group() != nil {
		conns, err = s.joinFor(due, conns, err)
	}
	for i, conn := range conns {
		stream, wrapErr := newStream(i, conn, !receivers[i], receivers[i], false)
		if wrapErr != nil {
			conn.Close()
			err = wrapErr
			continue
		}
		s.t.streams = append(s.t.streams, stream)
	}
	return events, err
}

// longestRoundTrip is more than any path on Earth has, by way of a satellite and full queues.
const longestRoundTrip = time.Second

// streamsLimit is how long all n streams of a test may take: clients open them one after another, a round trip each.
func (s *serverTest) streamsLimit(n int) time.Duration {
	roundTrip := longestRoundTrip
	if info, err := sock.InfoOf(s.ctl.conn); err == nil {
		roundTrip = min(info.RTT, longestRoundTrip)
	}
	return s.ctl.timeout + time.Duration(n)*roundTrip
}

// udpEnds are what the sockets of a client's streams have in common before it is known which port each comes from.
type udpEnds struct{ client, server netip.Addr }

// lockUDP waits until no other test of the client opens UDP streams to the address that it came to: only their source addresses tell whose they are.
func (s *Server) lockUDP(ctx context.Context, ctl net.Conn) (unlock func(), err error) {
	ends := udpEnds{addrPort(ctl.RemoteAddr()).Addr(), addrPort(ctl.LocalAddr()).Addr()}
	for {
		s.mu.Lock()
		other := s.udpSetups[ends]
		if other == nil {
			mine := make(chan struct{})
			s.udpSetups[ends] = mine
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				delete(s.udpSetups, ends)
				s.mu.Unlock()
				close(mine)
			}, nil
		}
		s.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// acceptTCP waits for n data connections and returns those that came, in the order in which the client opened them:
// their cookies may have been read in another.
func (s *serverTest) acceptTCP(ctx context.Context, events <-chan event, n int) ([]net.Conn, error) {
	var came []arrival
	var err error
	for err == nil && len(came) < n {
		select {
		case a := <-s.conns:
			came = append(came, a)
			err = s.setUp(a.conn)
		case e := <-events:
			err = e.early()
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	slices.SortFunc(came, func(a, b arrival) int { return cmp.Compare(a.order, b.order) })
	conns := make([]net.Conn, len(came))
	for i, a := range came {
		conns[i] = a.conn
	}
	return conns, err
}

func (e event) early() error {
	if e.err != nil {
		return e.err
	}
	return &ProtocolError{What: fmt.Sprintf("%v before the test", e.state)}
}

// setUp applies the parameters to an accepted data connection.
func (s *serverTest) setUp(conn net.Conn) error {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return &PeerError{Code: codeStreamAccept}
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	if err := tcp.SetNoDelay(bool(s.params.NoDelay)); err != nil {
		return err
	}
	p := s.params
	p.Congestion = "" // below
	notes, err := setUp(raw, p, true)
	if err != nil {
		return fmt.Errorf("%w: %w", err, &PeerError{Code: codeSetBuffer})
	}
	if name := s.params.Congestion; name != "" {
		if err := sock.SetCongestion(raw, name); err != nil {
			if s.params.Reverse || s.params.Bidir { // it matters only where this end sends
				return fmt.Errorf("%w: %w", err, &PeerError{Code: codeSetCongestion})
			}
			notes = append(notes, err.Error())
		}
	}
	for _, note := range notes {
		if s.extra != nil && !slices.Contains(s.extra.Notes, note) {
			s.extra.Notes = append(s.extra.Notes, note)
		}
	}
	return nil
}

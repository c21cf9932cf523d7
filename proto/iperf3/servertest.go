package iperf3

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// serverTest is one test in the server's role.
type serverTest struct {
	server *Server
	ctl    *control
	cookie Cookie
	params Params
	t      *transfer
	extra  *ResultsExtra // nil for a stock client

	mu     sync.Mutex
	closed bool
	conns  chan arrival // data connections that sent the cookie

	sentBytes, receivedBytes int64 // for the log
	seconds                  float64
}

// streamsGrace is how long a test may go on without data once its streams have failed: time for the client's own
// message about it.
const streamsGrace = 3 * time.Second

// expiryGrace is what a test may take beyond the time that the client asked for: iperf3's own allowance for ten
// state changes of 4 s (iperf_server_api.c, create_server_timers).
const expiryGrace = 40 * time.Second

func (s *serverTest) do(ctx context.Context) error {
	if err := s.negotiate(); err != nil {
		return err
	}
	s.t = newTransfer(s.params)
	defer s.t.closeStreams()
	events, err := s.openStreams(ctx)
	if err != nil {
		return err
	}
	return s.test(ctx, events)
}

// negotiate goes from PARAM_EXCHANGE to just before CREATE_STREAMS.
func (s *serverTest) negotiate() error {
	if err := s.ctl.send(ParamExchange); err != nil {
		return err
	}
	text, err := s.ctl.frame(MaxParamsSize)
	if err != nil {
		return err
	}
	if s.params, err = DecodeParams(text); err != nil {
		return err
	}
	if err := s.server.policy.judge(s.params); err != nil {
		return err
	}
	if s.params.Pathwise == nil {
		return nil
	}
	settings := sock.ReadTCPSettings()
	s.extra = &ResultsExtra{
		Software: softwareName, Version: softwareVersion, Settings: &settings,
		Path: forget(addrPort(s.ctl.conn.RemoteAddr()).Addr()),
	}
	hello, err := json.Marshal(Hello{Software: softwareName, Version: softwareVersion})
	if err != nil {
		return fmt.Errorf("encode hello: %w", err)
	}
	if err := s.ctl.send(Pathwise); err != nil {
		return err
	}
	return s.ctl.sendFrame(hello)
}

// judge returns a *PeerError if the policy does not allow the test.
func (p Policy) judge(params Params) error {
	asked := time.Duration(params.Time+params.Omit) * time.Second
	streams := int64(params.Parallel)
	switch {
	case asked > p.MaxDuration:
		return &PeerError{Code: codeDuration}
	case params.Parallel > number(p.MaxStreams):
		return &PeerError{Code: codeStreams}
	case bool(params.UDP && (params.Reverse || params.Bidir)) && int64(params.Bandwidth) > p.MaxRate/streams:
		return &PeerError{Code: codeRate}
	case bool(params.UDP && (params.Reverse || params.Bidir)) && params.Bandwidth == 0 && params.train() == nil:
		return &PeerError{Code: codeRate} // without limit
	}
	return nil
}

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
		s.server.udpSetup.Lock()
		defer s.server.udpSetup.Unlock()
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
			s.t.noteSent()
		}
	})
	conns, err := gather(ctx, events, len(receivers))
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

// acceptTCP waits for n data connections and returns those that came, in the order in which the client opened them:
// their cookies may have been read in another.
func (s *serverTest) acceptTCP(ctx context.Context, events <-chan event, n int) ([]net.Conn, error) {
	var came []arrival
	var err error
	timeout := time.NewTimer(s.ctl.timeout)
	defer timeout.Stop()
	for err == nil && len(came) < n {
		select {
		case a := <-s.conns:
			came = append(came, a)
			err = s.setUp(a.conn)
		case e := <-events:
			err = e.early()
		case <-timeout.C:
			err = fmt.Errorf("wait for stream %d: %w", len(came)+1, ErrPeerSilent)
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

// test is the data phase and the exchange of results.
func (s *serverTest) test(ctx context.Context, events <-chan event) error {
	t := s.t
	t.stampReads = s.extra == nil || s.params.Num > 0
	if err := s.ctl.send(TestStart); err != nil {
		return err
	}
	m := &monitor{omit: time.Duration(s.params.Omit) * time.Second}
	if s.extra != nil {
		m.every = max(0, time.Duration(s.params.Pathwise.SampleEvery*float64(time.Second)))
		if m.every > 0 {
			m.every = max(m.every, smallestSampling)
		}
	}
	t.begin(m)
	defer t.settle()
	if err := s.ctl.send(TestRunning); err != nil {
		return err
	}
	if err := s.ctl.disarm(); err != nil {
		return err
	}
	if err := s.run(ctx, events); err != nil {
		return err
	}
	return s.finish(ctx)
}

// run waits for TEST_END.
func (s *serverTest) run(ctx context.Context, events <-chan event) error {
	limit := s.server.policy.MaxDuration + expiryGrace
	if s.params.Time > 0 {
		limit = min(limit, time.Duration(s.params.Time+s.params.Omit)*time.Second+expiryGrace)
	}
	expiry := time.NewTimer(limit)
	defer expiry.Stop()
	var streamErr error
	var grace <-chan time.Time
	for {
		select {
		case e := <-events:
			if e.err != nil {
				return e.err
			}
			if e.state != TestEnd {
				return e.unexpected()
			}
			return nil
		case streamErr = <-s.t.failed:
			grace = time.After(streamsGrace)
		case <-grace:
			return streamErr
		case <-expiry.C:
			return &PeerError{Code: codeExpired}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// finish goes from TEST_END to IPERF_DONE. A stock client's receivers wait for the end of file of what we sent, so our
// senders close first; what a stock client sent is read until it is as much as the client says.
func (s *serverTest) finish(ctx context.Context) error {
	t := s.t
	t.stopSending()
	if err := s.ctl.send(ExchangeResults); err != nil {
		return err
	}
	together := s.extra != nil || bool(s.params.UDP)
	if together {
		t.stopReceiving()
		t.noteReceived()
	}
	for _, stream := range t.streams {
		if stream.sender && stream.tcp != nil {
			_ = stream.tcp.CloseWrite() // already reset, if it fails
		}
	}
	text, err := s.ctl.frame(MaxResultsSize)
	if err != nil {
		return err
	}
	theirs, err := DecodeResults(text)
	if err != nil {
		return err
	}
	if !together {
		t.monitor.end() // from here on nothing but the byte counts changes
		t.awaitBytes(theirs, ctx.Done())
	}
	t.settle()
	ours := t.results(s.extra)
	if text, err = EncodeResults(ours); err != nil {
		return err
	}
	if err := s.ctl.sendFrame(text); err != nil {
		return err
	}
	s.tally(ours)
	if err := s.ctl.send(DisplayResults); err != nil {
		return err
	}
	if err := s.ctl.expect(Done); err != nil && !errors.Is(explain(err), ErrPeerLost) {
		return err // some clients close instead
	}
	return nil
}

func (s *serverTest) tally(r Results) {
	for i, stream := range s.t.streams {
		one := r.Streams[i]
		if stream.sender {
			s.sentBytes += int64(one.Bytes)
		} else {
			s.receivedBytes += int64(one.Bytes)
		}
		s.seconds = max(s.seconds, one.EndTime)
	}
}

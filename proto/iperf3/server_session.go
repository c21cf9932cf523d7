package iperf3

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/analysis/loadrate"
	"github.com/pathwise-net/pathwise/sock"
)

// serverTest is one test in the server's role.
type serverTest struct {
	server *Server
	policy Policy // of the client's class
	ctl    *control
	cookie Cookie
	params Params
	t      *transfer
	extra  *ResultsExtra // nil for a stock client
	wall   sock.Wall     // since the Hello
	file   *farFile      // that the client asked for; nil: none
	placed bool          // it has a place among the tests that run
	pair   *pair         // that it is of; nil: it has its place alone

	mu     sync.Mutex
	closed bool
	conns  chan arrival // data connections that sent the cookie

	sentBytes, receivedBytes int64 // for the log
	seconds                  float64

	handshakes []net.Conn // of a test of a group: the sockets by which the client said which of its own sends
}

// streamsGrace is how long a test may go on without data once its streams have failed: time for the client's own
// message about it.
const streamsGrace = 3 * time.Second

func (s *serverTest) do(ctx context.Context) error {
	defer func() {
		s.closeStreams()
		s.file.close(s.server.Log)
	}()
	events, err := s.prepare(ctx)
	s.server.setups.GiveBack(s.client())
	if err != nil {
		return err
	}
	if s.placed = s.server.takePlace(ctx, s); !s.placed {
		return ErrBusy // another test was ready first
	}
	return s.test(ctx, events)
}

// prepare goes up to TEST_START.
func (s *serverTest) prepare(ctx context.Context) (<-chan event, error) {
	if err := s.negotiate(); err != nil {
		return nil, err
	}
	s.t = newTransfer(s.params)
	s.t.searchMost = s.policy.searchMost(s.params)
	s.file.into(s.t)
	return s.openStreams(ctx)
}

// client is the host that asked for the test.
func (s *serverTest) client() netip.Addr { return addrPort(s.ctl.conn.RemoteAddr()).Addr() }

func (s *serverTest) closeStreams() {
	if s.t != nil {
		s.t.closeStreams()
	}
	for _, c := range s.handshakes {
		c.Close()
	}
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
	if a := s.server.policy.Auth; a != nil && !a.admits(s.params.AuthToken, s.server.Now()) {
		return &PeerError{Code: codeUnauthorized}
	}
	if err := s.policy.judge(s.params); err != nil {
		return err
	}
	if s.params.Pathwise == nil {
		return nil
	}
	return s.sayHello()
}

// judge returns a *PeerError if the policy does not allow the test.
func (p Policy) judge(params Params) error {
	asked := time.Duration(params.Time+params.Omit) * time.Second
	streams := int64(params.Parallel)
	rate := int64(params.Bandwidth)
	if e := params.Pathwise; e != nil && bool(params.Bidir) && e.ReverseRate > 0 {
		rate = int64(e.ReverseRate)
	}
	switch {
	case bool(params.MPTCP) && !p.MPTCP:
		return &PeerError{Code: codeUnimplemented}
	case asked > p.MaxDuration:
		return &PeerError{Code: codeDuration}
	case params.Parallel > number(p.MaxStreams):
		return &PeerError{Code: codeStreams}
	case bool(params.UDP && (params.Reverse || params.Bidir)) && rate > p.MaxRate/streams:
		return &PeerError{Code: codeRate}
	case bool(params.UDP && (params.Reverse || params.Bidir)) && rate == 0 && params.train() == nil:
		return &PeerError{Code: codeRate} // without limit
	case params.search() != nil && bool(params.Reverse) && p.MaxRate < loadrate.Least:
		return &PeerError{Code: codeRate} // a search sends that much from the start
	}
	return nil
}

// test is the data phase and the exchange of results.
func (s *serverTest) test(ctx context.Context, events <-chan event) error {
	t := s.t
	t.stampReads = s.extra == nil || t.params.Num > 0
	if err := s.ctl.send(TestStart); err != nil {
		return err
	}
	m := &monitor{omit: time.Duration(s.params.Omit) * time.Second}
	if s.params.ServerOutput {
		m.interval = time.Second
	}
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
	limit := s.policy.MaxDuration + s.policy.Overtime
	if s.params.Time > 0 {
		limit = min(limit, time.Duration(s.params.Time+s.params.Omit)*time.Second+s.policy.Overtime)
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
// senders close first; what a stock client sent is read until it is as much as the client says. A Pathwise client has stopped, too.
func (s *serverTest) finish(ctx context.Context) error {
	t := s.t
	t.stopSending()
	if s.extra != nil {
		t.awaitTrains(s.ctl.conn, ctx.Done())
	}
	if err := s.ctl.send(ExchangeResults); err != nil {
		return err
	}
	together := s.extra != nil || bool(s.params.UDP)
	if together {
		t.stopReceiving()
		t.noteReceived()
	}
	var ours Results
	if s.extra != nil {
		ours = s.count()
		t.abandon()
	} else {
		t.closeSenders()
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
	if s.extra == nil {
		ours = s.count()
	}
	if text, err = EncodeResults(ours); err != nil {
		return err
	}
	if s.extra != nil && s.params.Pathwise.Packs {
		text = pack(text)
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

// count is what this end counted, once the data is over.
func (s *serverTest) count() Results {
	s.t.settle()
	if s.extra != nil {
		s.extra.ClockStep = s.wall.Stepped().Seconds()
	}
	ours := s.t.results(s.extra)
	if s.params.ServerOutput {
		ours.ServerOutput = s.output(ours)
	}
	return ours
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

// moved is how many bytes of payload this end wrote and read, whatever became of the test.
func (s *serverTest) moved() (sent, received int64) {
	if s.t == nil {
		return 0, 0
	}
	for _, stream := range s.t.streams {
		if stream.sender {
			sent += stream.count.Load()
		} else {
			received += stream.count.Load()
		}
	}
	return sent, received
}

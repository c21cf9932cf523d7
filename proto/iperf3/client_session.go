package iperf3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// event is what came on the control connection while data flowed.
type event struct {
	state State
	err   error
}

// listen waits for the next state in a goroutine that ends with the connection's next byte, or its end. At is called
// before the event is passed on.
func (c *control) listen(at func(State)) <-chan event {
	events := make(chan event, 1)
	go func() {
		s, err := c.anyState()
		if err == nil {
			at(s)
		}
		events <- event{s, err}
	}()
	return events
}

// test is the data phase and what follows:
//
//	running -> by time:            stop
//	        -> enough is known:    stop
//	        -> bytes or source:    all written -> all acknowledged -> stop
//	        -> enough received:    stop
//	        -> trains are over:    stop
//	stop -> TEST_END -> EXCHANGE_RESULTS -> results each way -> DISPLAY_RESULTS -> IPERF_DONE
//	     -> a Pathwise peer: TEST_END and empty results -> EXCHANGE_RESULTS, results, DISPLAY_RESULTS -> IPERF_DONE
func (r *clientRun) test(ctx context.Context) error {
	t := r.t
	t.stampReads = r.report.Peer == nil || t.params.Num > 0
	if err := r.ctl.expect(TestRunning); err != nil {
		return err
	}
	if err := r.ctl.disarm(); err != nil {
		return err
	}
	t.begin(&monitor{interval: r.config.Interval, every: r.config.SampleEvery, omit: r.config.Omit, onInterval: r.config.OnInterval,
		enough: r.config.Enough, satisfied: make(chan struct{})})
	events := r.ctl.listen(func(s State) {
		if s == ExchangeResults { // see the package's comment
			t.noteSent()
		}
	})
	err := r.run(ctx, events)
	if err == nil {
		err = r.end(ctx, events)
	}
	t.settle()
	r.report.fill(t)
	if err != nil {
		return err
	}
	if err := r.exchange(); err != nil {
		return err
	}
	return t.sinkFailure()
}

// run waits for the end of the data, by whatever limit comes first.
func (r *clientRun) run(ctx context.Context, events <-chan event) error {
	t := r.t
	var timeUp <-chan time.Time
	if r.config.Duration > 0 {
		timer := time.NewTimer(r.config.Duration + r.config.Omit)
		defer timer.Stop()
		timeUp = timer.C
	}
	sent, gotAll, received := t.sent, t.gotAll, t.received
	if r.config.Reverse {
		sent = nil // there are no senders, so it is closed
	} else if !r.config.Bidir {
		gotAll, received = nil, nil
	}
	over := make(chan struct{})
	defer close(over)
	var drained chan bool
	stall := t.watchReceivers(over)
	quiet := t.watchTrains(over)
	for sent != nil || gotAll != nil || drained != nil {
		select {
		case <-timeUp:
			return nil
		case <-t.monitor.satisfied:
			return nil
		case <-quiet:
			t.quiet = true
			return nil
		case <-sent:
			sent = nil
			if r.config.Proto == TCP {
				drained = make(chan bool, 1)
				go func() { drained <- t.drain(over) }()
			}
		case done := <-drained:
			drained = nil
			if !done {
				return r.stalled(ctx, events, "acknowledgement")
			}
		case <-stall:
			if gotAll != nil && timeUp == nil {
				return r.stalled(ctx, events, "data")
			}
			stall = nil
		case <-gotAll:
			gotAll = nil
		case <-received: // the server closed its streams; it will say why, or is gone
			received = nil
			if r.config.Reverse {
				gotAll = nil
			}
		case err := <-t.failed:
			return r.lost(err, events)
		case e := <-events:
			return e.unexpected()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (e event) unexpected() error {
	if e.err != nil {
		return e.err
	}
	return &ProtocolError{What: fmt.Sprintf("%v while data flows", e.state)}
}

// stalled says why something that was waited for did not come.
func (r *clientRun) stalled(ctx context.Context, events <-chan event, what string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case e := <-events:
		return e.unexpected()
	default:
		return fmt.Errorf("%w: no %s for %v", ErrPeerLost, what, stallLimit)
	}
}

// end stops the data, tells the server, and waits until both ends have counted.
func (r *clientRun) end(ctx context.Context, events <-chan event) error {
	t := r.t
	t.stopSending()
	udp := r.config.Proto == UDP
	together := r.report.Peer != nil && !udp    // the peer stops where we do
	if udp && !r.config.Reverse && !t.awaited { // what this end sent shall be there before the peer hears that it was all
		t.letArrive(ctx, r.ctl.conn)
	}
	if together {
		t.stopReceiving()
		t.noteReceived()
	}
	if err := r.sendEnd(); err != nil {
		return err
	}
	select {
	case e := <-events:
		if e.err != nil || e.state != ExchangeResults {
			return e.unexpected()
		}
	case <-time.After(r.config.Timeout):
		return ErrPeerSilent
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	switch {
	case udp: // the peer has stopped, and what it sent last is on its way
		if (r.config.Reverse || r.config.Bidir) && !t.quiet && !t.allTrains() {
			t.letArrive(ctx, r.ctl.conn)
		}
		t.stopReceiving()
		t.noteReceived()
	case !together:
		t.awaitEOF(ctx.Done())
	}
	return context.Cause(ctx)
}

// sendEnd tells the server that the data is over. To a Pathwise server, which counts for itself, empty results follow at once: it needs none, and
// its own come a round trip sooner.
func (r *clientRun) sendEnd() error {
	if r.report.Peer == nil {
		return r.ctl.send(TestEnd)
	}
	text, err := EncodeResults(Results{SenderHasRetransmits: -1, Streams: []StreamResult{}})
	if err != nil {
		return err
	}
	words := bytes.NewBuffer([]byte{byte(TestEnd)})
	if err := WriteFrame(words, text); err != nil {
		return err
	}
	if err := r.ctl.arm(r.config.Timeout); err != nil {
		return err
	}
	_, err = r.ctl.conn.Write(words.Bytes())
	return err
}

// exchange tells a stock server what this end counted, and adds what the server did to the report.
func (r *clientRun) exchange() error {
	if r.report.Peer == nil {
		text, err := EncodeResults(r.t.results(nil))
		if err != nil {
			return err
		}
		if err := r.ctl.sendFrame(text); err != nil {
			return err
		}
	}
	text, err := r.ctl.frame(MaxResultsSize)
	if err != nil {
		return err
	}
	if text, err = unpack(text, MaxResultsSize); err != nil {
		return err
	}
	remote, err := DecodeResults(text)
	if err != nil {
		return err
	}
	r.report.merge(r.t, remote)
	if err := r.ctl.expect(DisplayResults); err != nil {
		return err
	}
	return r.ctl.send(Done)
}

// lost is what an error of a data stream means for the test: often the control connection knows better.
func (r *clientRun) lost(err error, events <-chan event) error {
	var source *SourceError
	var sink *SinkError
	if errors.As(err, &source) || errors.As(err, &sink) {
		return err
	}
	select {
	case e := <-events:
		if e.err != nil {
			return e.err
		}
	case <-time.After(goodbyeLimit):
	}
	return err
}

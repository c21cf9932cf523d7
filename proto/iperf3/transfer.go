package iperf3

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// transfer is the data phase of a test at one end: its streams, their goroutines, and how they stop.
//
//	begin -> goroutine a stream, monitor -> stopSending, stopReceiving -> settle
type transfer struct {
	params     Params
	streams    []*stream
	source     io.Reader // what the one sender sends, nil for memory
	sink       io.Writer // what the one receiver writes into; nil: what comes is counted, and dropped
	stampReads bool      // note the time of each read, to know when the last byte came
	active     bool      // this end is the client
	awaited    bool      // the far end waits for the last datagrams of trains itself
	quiet      bool      // no more datagrams of trains come
	omitted    bool      // the omitted part is over; the monitor's
	searchMost int64     // bit/s of IP packets, that a search at this end sends at most; 0: as its table has it

	start time.Time
	// budget is how many bytes the senders may still write, want how many the receivers still expect; both only
	// if limited.
	limited      bool
	budget, want atomic.Int64

	running  atomic.Bool   // begin is done
	halted   atomic.Bool   // senders are to stop
	haltedCh chan struct{} // closed then
	deaf     atomic.Bool   // receivers are to stop

	failed    chan error    // the first error of a stream while neither halted nor deaf
	sent      chan struct{} // closed when all senders have returned
	received  chan struct{} // closed when all receivers have returned
	gotAll    chan struct{} // closed when want has been received
	gotOnce   sync.Once
	haltOnce  sync.Once
	noteOnce  [2]sync.Once // of receivers, of senders
	senders   sync.WaitGroup
	receivers sync.WaitGroup

	payloadOnce  sync.Once
	payloadBytes []byte // what all TCP senders send
	monitor      *monitor
}

// newTransfer makes a transfer that has not begun. Blocks count as the bytes that they are.
func newTransfer(p Params) *transfer {
	if p.Num == 0 {
		p.Num = p.BlockCount * p.Len
	}
	return &transfer{
		params: p, haltedCh: make(chan struct{}), failed: make(chan error, 1),
		sent: make(chan struct{}), received: make(chan struct{}), gotAll: make(chan struct{}),
	}
}

// begin starts the data phase. The caller ends it with settle, always.
func (t *transfer) begin(m *monitor) {
	t.start = time.Now()
	t.setLimits()
	for _, s := range t.streams {
		s.filed = s.sender && t.source != nil || !s.sender && t.sink != nil
		if t.params.search() != nil && !s.sender {
			s.meter = &meter{headers: PacketHeaders(addrPort(s.conn.RemoteAddr()).Addr())}
		}
		group := &t.receivers
		if s.sender {
			group = &t.senders
		}
		group.Go(func() { t.drive(s) })
	}
	go func() { t.senders.Wait(); close(t.sent) }()
	go func() { t.receivers.Wait(); close(t.received) }()
	t.monitor = m
	m.begin(t)
	t.running.Store(true)
}

// setLimits puts the limits on bytes in force.
func (t *transfer) setLimits() {
	const none = 1 << 62
	t.budget.Store(none)
	t.want.Store(none)
	if train := t.params.train(); train != nil {
		t.limit()
		t.want.Store(int64(train.Trains) * int64(train.bytes()))
		return
	}
	if t.params.Num == 0 {
		return
	}
	t.limit()
	if t.params.Omit > 0 && !t.omitted { // what is omitted is not counted, and how much that will be is not known
		return
	}
	t.want.Store(int64(t.params.Num))
	// The server does not see when the client stopped omitting, nor which of its datagrams were lost: there the
	// client ends the test.
	if t.active || !bool(t.params.UDP) && t.params.Omit == 0 {
		budget := int64(t.params.Num)
		if block := int64(t.params.Len); t.wholeBlocks() {
			budget = (budget + block - 1) / block * block
		}
		t.budget.Store(budget)
	}
}

// limit puts limits in force. They are set anew when the omitted part ends, while senders already look.
func (t *transfer) limit() {
	if !t.limited {
		t.limited = true
	}
}

// wholeBlocks reports whether this end must send blocks of the agreed length and nothing less: since 3.16 a stock
// client that receives a number of bytes waits for whole blocks.
func (t *transfer) wholeBlocks() bool {
	return !t.active && t.params.Pathwise == nil && !bool(t.params.UDP) && t.params.Num > 0
}

// drive runs one stream and reports its failure, unless the test is ending anyway. What a sink did not take is lost at any time.
func (t *transfer) drive(s *stream) {
	var err error
	switch {
	case s.tcp != nil && s.sender:
		err = t.sendTCP(s)
	case s.tcp != nil && t.sink != nil:
		err = t.receiveInto(s)
	case s.tcp != nil:
		err = t.receiveTCP(s)
	case s.sender:
		err = t.sendUDP(s)
	default:
		err = t.receiveUDP(s)
	}
	sink := new(SinkError)
	if err != nil && (!t.halted.Load() && !t.deaf.Load() || errors.As(err, &sink)) {
		select {
		case t.failed <- err:
		default: // an earlier failure is already waiting
		}
	}
}

// rateOf is what a stream is paced to, in bit/s; 0: it is not.
func (t *transfer) rateOf(s *stream) int64 {
	if e := t.params.Pathwise; e != nil && e.ReverseRate > 0 && bool(t.params.Bidir) && !s.forward {
		return int64(e.ReverseRate)
	}
	return int64(t.params.Bandwidth)
}

func (t *transfer) elapsed() time.Duration { return time.Since(t.start) }

// take returns how many bytes a sender may write now, at most n.
func (t *transfer) take(n int) int {
	if !t.limited {
		return n
	}
	left := t.budget.Add(-int64(n))
	return int(min(int64(n), max(0, left+int64(n))))
}

// got notes bytes that a receiver read.
func (t *transfer) got(s *stream, n int) {
	s.count.Add(int64(n))
	if t.stampReads {
		s.last.Store(int64(t.elapsed()))
	}
	if t.limited && t.want.Add(-int64(n)) <= 0 {
		t.gotOnce.Do(func() { close(t.gotAll) })
	}
}

// endOmit starts the counting: what came before is not part of the result.
func (t *transfer) endOmit() {
	now := t.elapsed()
	for _, s := range t.streams {
		s.startedAt = now
		if r, err := s.read(); err == nil {
			s.from = r
		}
	}
	t.omitted = true
	t.setLimits()
}

var past = time.Unix(1, 0) // a deadline that is over

// stopSending makes all senders stop, waits until they have, and notes when each of them did.
func (t *transfer) stopSending() {
	t.haltOnce.Do(func() {
		t.halted.Store(true)
		close(t.haltedCh)
		for _, s := range t.streams {
			if s.sender {
				s.conn.SetWriteDeadline(past)
			}
		}
	})
	<-t.sent
	for _, s := range t.streams {
		if s.sender && s.endedAt == 0 {
			s.endedAt = t.elapsed()
		}
	}
}

// stopReceiving ends the receivers once they have read what the kernel already holds.
func (t *transfer) stopReceiving() {
	t.deaf.Store(true)
	now := t.elapsed()
	for _, s := range t.streams {
		if !s.sender {
			s.conn.SetReadDeadline(past)
			if s.endedAt == 0 {
				s.endedAt = now
			}
		}
	}
	<-t.received
	for _, s := range t.streams {
		if s.tcp == nil && !s.sender {
			s.cutToArrivals()
			continue
		}
		if last := time.Duration(s.last.Load()); !s.sender && last > 0 && (t.limited || last > s.endedAt) {
			s.endedAt = last
		}
	}
}

// noteSent takes the final reading of the senders, the first time that it is called: while the acknowledgements of what
// the peer counted are the latest ones that came.
func (t *transfer) noteSent() { t.noteOnce[1].Do(func() { t.note(true) }) }

// noteReceived takes the final reading of the receivers, which have stopped, the first time that it is called.
func (t *transfer) noteReceived() { t.noteOnce[0].Do(func() { t.note(false) }) }

func (t *transfer) note(senders bool) {
	for _, s := range t.streams {
		if s.sender == senders {
			if r, err := s.read(); err == nil {
				s.to = r
			}
		}
	}
}

// settle stops everything that still runs and takes the readings that are still missing. It may be called again.
func (t *transfer) settle() {
	t.deaf.Store(true)
	t.stopSending()
	t.noteSent()
	t.stopReceiving()
	t.noteReceived()
	t.monitor.end()
}

func (t *transfer) closeStreams() {
	for _, s := range t.streams {
		s.conn.Close()
	}
}

// closeSenders lets the peers of TCP senders read to the end of what was sent.
func (t *transfer) closeSenders() {
	for _, s := range t.streams {
		if s.sender && s.tcp != nil {
			_ = s.tcp.CloseWrite() // already reset, if it fails
		}
	}
}

// abandon resets the TCP streams, of which both ends have the last readings: what still waits to be sent would go on filling the queues in which the
// results wait. The peer of an MPTCP stream could not take a reading any more, so that these are left.
func (t *transfer) abandon() {
	for _, s := range t.streams {
		if s.tcp != nil && !s.mptcp {
			_ = s.tcp.SetLinger(0)
			s.tcp.Close()
		}
	}
}

// ended says that an error of a read or write is only the end of the test.
func ended(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)
}

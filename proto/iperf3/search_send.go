package iperf3

import (
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/analysis/loadrate"
)

// sendSearch sends at the rates that a search comes to, until the test is over or the receiver falls silent.
func (t *transfer) sendSearch(s *stream, size int) error {
	packet := size + PacketHeaders(addrPort(s.conn.RemoteAddr()).Addr())
	out := newOutbox(s, size, t.params.offload(), bool(t.params.Counters64))
	reports := t.hearReports(s)
	defer reports.end()
	rate := reports.rate.Load()
	pace := newPace(packet, rate, 0, t.elapsed())
	for !t.halted.Load() {
		now := t.elapsed()
		if now > time.Duration(reports.patience.Load()) {
			return ErrNoReports
		}
		if next := reports.rate.Load(); next != rate {
			rate = next
			due := pace.due
			pace = newPace(packet, rate, 0, now)
			pace.due = min(due, pace.due+pace.gap)
		}
		n, wait := pace.next(now, out.most())
		if n == 0 {
			sleepFor(min(wait, udpPoll))
			continue
		}
		if err := out.send(n, now); err != nil {
			return err
		}
	}
	return nil
}

// reports are what the sender of a search hears of its receiver, by a goroutine that ends with end.
type reports struct {
	s        *stream
	rate     atomic.Int64 // in bit/s of IP packets, to send at now
	patience atomic.Int64 // ns since the start of the data, until when the next report has to come
	done     chan struct{}
}

// hearReports begins a search.
func (t *transfer) hearReports(s *stream) *reports {
	search := loadrate.New(int64(t.params.Bandwidth), t.searchMost)
	r := &reports{s: s, done: make(chan struct{})}
	r.rate.Store(search.Rate())
	r.patience.Store(int64(t.elapsed() + longestRoundTrip + loadrate.SilenceTime)) // the first one takes a round trip
	go func() {
		defer close(r.done)
		key, latest := t.params.search().Key, uint32(0)
		var b [reportSize + 1]byte
		for {
			n, err := s.conn.Read(b[:])
			if err != nil && !earlier(err) {
				return // end, or the stream's
			}
			number, report, ok := parseReport(b[:n], key)
			if !ok || number <= latest {
				continue
			}
			latest = number
			search.Take(report)
			r.rate.Store(search.Rate())
			r.patience.Store(int64(t.elapsed() + loadrate.SilenceTime))
		}
	}()
	return r
}

func (r *reports) end() {
	r.s.conn.SetReadDeadline(past)
	<-r.done
}

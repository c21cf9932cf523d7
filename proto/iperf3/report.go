package iperf3

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// Count is what one end of a stream counted.
type Count struct {
	Bytes   int64
	Seconds float64 // from the end's own start, or the end of the omitted part, to its own end
	Packets int64   // UDP: sent, or the highest sequence number seen
	last    int64   // Packets, with those of the omitted part
}

// StreamReport is one stream in one direction. A nil Count is of an end that did not say.
type StreamReport struct {
	Stream    int    // from 1
	Direction string // Forward or Reverse
	Local     netip.AddrPort
	Remote    netip.AddrPort

	Sent        *Count // bytes that were acknowledged (see the package's comment); a stock peer: written
	Received    *Count
	Retransmits *int64 // nil: not known

	// UDP, by the receiver; the last three only if the receiver is this end or Pathwise.
	Jitter     float64 // seconds
	Lost       int64
	LossRuns   int64
	Reordered  int64
	Duplicates int64

	LocalExtra  *StreamExtra // buffers, congestion control and MSS of this end
	RemoteExtra *StreamExtra // of the peer, nil if it is not Pathwise
}

// UDPEnd is what an end of a direction tells of its datagrams.
type UDPEnd struct {
	Known      bool  // the end told; a stock one does not
	HostLost   int64 // as in StreamExtra, as are all that follow
	Together   int
	Fragmented int64
	Fragment   int
	PathMTU    int
	IPDV, PDV  float64 // of the worst stream
}

func (e *UDPEnd) add(one *StreamExtra) {
	if one == nil {
		return
	}
	e.Known = true
	e.HostLost += one.HostLost
	e.Together, e.Fragment = max(e.Together, one.Together), max(e.Fragment, one.FragmentBytes)
	e.Fragmented += one.Fragmented
	e.PathMTU = max(e.PathMTU, one.PathMTU)
	e.IPDV, e.PDV = max(e.IPDV, one.IPDV), max(e.PDV, one.PDV)
}

// Totals is a direction's streams together.
type Totals struct {
	SentBytes, ReceivedBytes     int64
	SentSeconds, ReceivedSeconds float64 // of the longest stream
	Retransmits                  *int64  // nil: not known
	Packets, Lost, Reordered     int64
	Duplicates                   int64
	Ends                         [2]UDPEnd // of the sender and of the receiver
	LossRuns                     int64     // in which Lost were; 0: none were, or not told of all streams
	Jitter                       float64   // of the worst stream
	HaveSent, HaveReceived       bool      // whether that end counted
}

// Goodput is what the receiver counted over its own seconds, in bit/s. Of datagrams these are from the first to the last that came, so that where the sender
// took longer it is over the sender's.
func (t Totals) Goodput() float64 {
	seconds := t.ReceivedSeconds
	if t.Packets > 0 {
		seconds = max(seconds, t.SentSeconds)
	}
	if seconds <= 0 {
		return 0
	}
	return float64(t.ReceivedBytes) * 8 / seconds
}

// Report is what a client's test brought. With an error from Run it holds what was measured up to then.
type Report struct {
	Config        Config    // as the test was made: with what holds for what was left out, and without the cookie
	Started       time.Time // of the data
	Local, Remote netip.AddrPort

	Streams   []StreamReport
	Intervals []IntervalReport // of this end
	Samples   []Sample         // TCP_INFO of this end

	MSS              int    // bytes, of the first stream, 0 if not known
	Congestion       string // what this end really used
	RemoteCongestion string // what the server said it used; "" if it did not
	CPU              CPU
	RemoteCPU        *CPU // nil: no results came

	Settings  *sock.TCPSettings // of this end
	Counts    sock.Counts       // what this end's kernel counted during the data, of troubleCounts
	Path      *PathRecord       // what the kernel remembered of the peer
	Arrivals  []Arrival         // of trains, from the end that received; nil if it is a stock one
	Peer      *Hello            // nil: a stock peer
	Ahead     *[2]time.Duration // the least and the most that the peer's wall clock shows more than this end's; nil: not told
	PeerExtra *ResultsExtra     // nil: a stock peer, or no results came
	// PeerSamples are the TCP_INFO samples in PeerExtra.
	PeerSamples []Sample
	// ServerOutput is what the server printed: its text, or its JSON; "": it was not asked for, or does not say.
	ServerOutput string
	Notes        []string // what limits what the numbers mean
}

// lostLast is how many datagrams were lost behind the highest that came, as far as the receiver waited for them: a stock one does not.
func (s *StreamReport) lostLast() int64 {
	receiver := s.LocalExtra
	if receiver == nil || receiver.Sender {
		receiver = s.RemoteExtra
	}
	if receiver == nil || receiver.Sender || s.Sent == nil || s.Received == nil || s.Received.last == 0 {
		return 0
	}
	return max(0, s.Sent.last-s.Received.last)
}

// Total sums the streams of a direction.
func (r *Report) Total(direction string) Totals {
	var sum Totals
	runsTold := true
	for _, s := range r.Streams {
		if s.Direction != direction {
			continue
		}
		if s.Sent != nil {
			sum.HaveSent = true
			sum.SentBytes += s.Sent.Bytes
			sum.Packets += s.Sent.Packets
			sum.SentSeconds = max(sum.SentSeconds, s.Sent.Seconds)
		}
		if s.Received != nil {
			sum.HaveReceived = true
			sum.ReceivedBytes += s.Received.Bytes
			sum.ReceivedSeconds = max(sum.ReceivedSeconds, s.Received.Seconds)
		}
		if s.Retransmits != nil {
			more := *s.Retransmits
			if sum.Retransmits != nil {
				more += *sum.Retransmits
			}
			sum.Retransmits = &more
		}
		sum.Lost += s.Lost
		sum.LossRuns += s.LossRuns
		runsTold = runsTold && (s.LossRuns > 0 || s.Lost == 0)
		if n := s.lostLast(); n > 0 {
			sum.Lost += n
			sum.LossRuns++
		}
		sum.Reordered += s.Reordered
		sum.Duplicates += s.Duplicates
		for _, extra := range []*StreamExtra{s.LocalExtra, s.RemoteExtra} {
			if extra != nil && extra.Sender {
				sum.Ends[0].add(extra)
			} else {
				sum.Ends[1].add(extra)
			}
		}
		sum.Jitter = max(sum.Jitter, s.Jitter)
	}
	if !runsTold {
		sum.LossRuns = 0
	}
	return sum
}

// fill puts what the streams of this end counted into the report.
func (r *Report) fill(t *transfer) {
	r.Started = t.start
	r.Intervals, r.Samples, r.CPU, r.Counts = t.monitor.intervals, t.monitor.samples, t.monitor.cpu, t.monitor.trouble
	for _, s := range t.streams {
		local := s.result()
		extra := s.extra()
		one := StreamReport{
			Stream: s.index + 1, Direction: direction(s.forward), LocalExtra: &extra,
			Local: addrPort(s.conn.LocalAddr()), Remote: addrPort(s.conn.RemoteAddr()),
		}
		one.take(local, s.sender)
		if !s.sender {
			one.counted(extra)
		}
		r.Streams = append(r.Streams, one)
		if arrivals := s.arrivalsOf(); arrivals != nil {
			r.Arrivals = arrivals
		}
	}
	if len(r.Streams) > 0 {
		r.MSS, r.Congestion = r.Streams[0].LocalExtra.MSS, r.Streams[0].LocalExtra.Congestion
	}
}

// take puts one end's figures of a stream in their places.
func (s *StreamReport) take(from StreamResult, sender bool) {
	c := &Count{Bytes: int64(from.Bytes), Seconds: from.EndTime - from.StartTime, Packets: from.packets(), last: int64(from.Packets)}
	if !sender {
		s.Received, s.Jitter, s.Lost = c, from.Jitter, from.lost()
		return
	}
	s.Sent = c
	if from.Retransmits >= 0 {
		n := int64(from.Retransmits)
		s.Retransmits = &n
	}
}

// counted takes what a receiver counted of datagrams beyond iperf3's own figures.
func (s *StreamReport) counted(by StreamExtra) {
	s.LossRuns, s.Reordered, s.Duplicates = by.LossRuns, by.Reordered, by.Duplicates
}

// merge adds the peer's results.
func (r *Report) merge(t *transfer, remote Results) {
	r.RemoteCongestion = remote.CongestionUsed
	r.ServerOutput = cmp.Or(remote.ServerOutput, string(remote.ServerOutputJSON))
	r.RemoteCPU = &CPU{remote.CPUTotal / 100, remote.CPUUser / 100, remote.CPUSystem / 100}
	for i, s := range t.streams {
		if theirs, ok := remote.stream(streamID(s.index)); ok {
			r.Streams[i].take(theirs, !s.sender)
		}
	}
	e := remote.Pathwise
	if e == nil {
		return
	}
	r.PeerExtra = e
	r.PeerSamples = e.Samples.Samples(func(stream int) bool {
		return stream >= 1 && stream <= len(t.streams) && !t.streams[stream-1].sender
	})
	if e.Arrivals != nil {
		r.Arrivals = fromWire(e.Arrivals)
	}
	for _, theirs := range e.Streams {
		if theirs.Stream < 1 || theirs.Stream > len(r.Streams) {
			continue
		}
		one := &r.Streams[theirs.Stream-1]
		one.RemoteExtra = &theirs
		if !theirs.Sender {
			one.counted(theirs)
		}
	}
	for _, note := range e.Notes {
		r.Notes = append(r.Notes, "peer: "+note)
	}
}

func (s StreamResult) packets() int64 {
	if s.OmittedPackets != nil {
		return int64(s.Packets - *s.OmittedPackets)
	}
	return int64(s.Packets)
}

func (s StreamResult) lost() int64 {
	if s.OmittedErrors != nil && *s.OmittedErrors >= 0 {
		return int64(s.Errors - *s.OmittedErrors)
	}
	return int64(s.Errors)
}

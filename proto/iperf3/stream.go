package iperf3

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// stream is one data connection at this end. Its goroutine counts, the monitor's goroutine reads the counts.
type stream struct {
	index   int // from 0, the same at both ends
	sender  bool
	forward bool // from client to server
	conn    net.Conn
	tcp     *net.TCPConn // nil for UDP
	raw     syscall.RawConn

	mptcp    bool        // it is by MPTCP: bytes are counted over all its subflows
	allAcked atomic.Bool // all that was written by MPTCP has been acknowledged: see awaitDataAcks
	// ackBase is what tcpi_bytes_acked stands at before the first byte of payload.
	ackBase int64

	count   atomic.Int64 // bytes written or read
	last    atomic.Int64 // when the latest byte was read, ns since the start; kept only if transfer.stampReads
	packets atomic.Int64 // datagrams sent
	unsent  atomic.Int64 // of them: that this host refused to send
	// together is the largest number of datagrams that a sender handed over to be cut apart, or that a receiver got merged; 0 or 1: each alone.
	together atomic.Int64

	filed    bool         // its payload is of a file, or of another source, or goes to one
	fileWait atomic.Int64 // ns that it waited for that

	mu         sync.Mutex // of what follows; for UDP receivers only
	track      Tracker
	variation  variation
	meter      *meter           // of a search; nil: the test is none
	arrivals   []Arrival        // of trains
	marks      [64]int64        // datagrams by their DSCP, where the kernel tells it
	arrived    [2]time.Duration // when the first and the latest datagram came, since the start; zero: none did
	drops      uint32           // messages that the kernel had dropped at the latest look, as the socket's buffer was full
	overflowed int64            // datagrams in them, as far as that is known
	fragmented int64            // datagrams that came in fragments
	fragment   int              // bytes of the largest of those

	from, to  reading // what the test counts is to - from
	startedAt time.Duration
	endedAt   time.Duration
}

// reading is the counts of a stream at one moment.
type reading struct {
	bytes       int64
	retransmits int64
	packets     int64
	lost        int64
	lossRuns    int64
	reordered   int64
	duplicates  int64
	hostLost    int64 // datagrams that this end's host dropped, on sending or after they had come
	jitter      time.Duration
}

// newStream takes over a connection whose handshake is done. active says that this end opened it.
func newStream(index int, conn net.Conn, sender, forward, active bool) (*stream, error) {
	if udp, ok := conn.(*net.UDPConn); ok && udp.RemoteAddr() != nil { // the sender to a group is not connected, and hears answers from many
		quiet, err := sock.Unwatch(udp)
		if err != nil {
			return nil, err
		}
		conn = quiet
	}
	s := &stream{index: index, sender: sender, forward: forward, conn: conn}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	s.raw = raw
	s.tcp, _ = conn.(*net.TCPConn)
	s.mptcp = s.tcp != nil && usesMPTCP(s.tcp)
	switch {
	case active && s.mptcp:
		s.ackBase = CookieSize
	case active:
		s.ackBase = 1 + CookieSize // Linux counts its own SYN; the cookie came before the payload
	}
	return s, nil
}

// read looks at the counts now. A TCP sender counts what the peer's kernel acknowledged.
func (s *stream) read() (reading, error) {
	switch {
	case s.tcp == nil:
		return s.readUDP(), nil
	case !s.sender:
		return s.readTCP(sock.TCPInfo{}), nil
	}
	if s.mptcp {
		if acked, retransmits, ok := ackedByMPTCP(s.raw); ok {
			if s.allAcked.Load() {
				acked = s.ackBase + s.count.Load()
			}
			return reading{bytes: max(0, acked-s.ackBase), retransmits: retransmits}, nil
		}
	}
	info, err := sock.ReadTCPInfo(s.raw)
	return s.readTCP(info), err
}

func (s *stream) readTCP(info sock.TCPInfo) reading {
	r := reading{bytes: s.count.Load(), retransmits: -1}
	if !s.sender {
		return r
	}
	if info.Has(sock.FieldTotalRetrans) {
		r.retransmits = int64(info.TotalRetrans)
	}
	if info.Has(sock.FieldBytesAcked) { // since Linux 4.2
		r.bytes = max(0, int64(info.BytesAcked)-s.ackBase)
	}
	return r
}

func (s *stream) readUDP() reading {
	r := reading{bytes: s.count.Load(), packets: s.packets.Load(), retransmits: -1, hostLost: s.unsent.Load()}
	if s.sender {
		return r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.packets, r.lost, r.jitter = int64(s.track.Highest), s.track.Lost, s.track.Jitter
	r.hostLost = s.overflowed
	r.lossRuns, r.reordered, r.duplicates = s.track.LossRuns, s.track.Reordered, s.track.Duplicates
	return r
}

// result is the stream as the wire and the report have it.
func (s *stream) result() StreamResult {
	zero := number(0)
	r := StreamResult{
		ID:             number(streamID(s.index)),
		Bytes:          number(max(0, s.to.bytes-s.from.bytes)),
		Retransmits:    -1,
		Jitter:         s.to.jitter.Seconds(),
		EndTime:        max(0, (s.endedAt - s.startedAt).Seconds()),
		OmittedErrors:  &zero,
		OmittedPackets: &zero,
	}
	if s.sender && s.to.retransmits >= 0 {
		r.Retransmits = number(s.to.retransmits - max(0, s.from.retransmits))
	}
	if s.tcp == nil {
		lost, packets := number(s.from.lost), number(s.from.packets)
		r.Errors, r.OmittedErrors = number(s.to.lost), &lost
		r.Packets, r.OmittedPackets = number(s.to.packets), &packets
	}
	return r
}

// markCounts are the datagrams by the mark that they arrived with; none where the test asked for no mark.
func (s *stream) markCounts() (all []MarkCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for dscp, packets := range s.marks {
		if packets > 0 {
			all = append(all, MarkCount{dscp, packets})
		}
	}
	return all
}

// cutToArrivals lets the time that a receiver of datagrams counted run from the first to the last of them: it waits for them before, and for others after.
func (s *stream) cutToArrivals() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, last := s.arrived[0], s.arrived[1]; last > first {
		s.startedAt, s.endedAt = max(s.startedAt, first), last
	}
}

// extraUDP is what of that is of datagrams alone.
func (s *stream) extraUDP(e *StreamExtra) {
	e.Marks = s.markCounts()
	e.HostLost, e.Together = max(0, s.to.hostLost-s.from.hostLost), int(s.together.Load())
	if s.sender {
		e.PathMTU = pathMTU(s.raw)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Fragmented, e.FragmentBytes = s.fragmented, s.fragment
	e.IPDV, e.PDV = s.variation.p95()
	if s.meter != nil {
		e.SubIntervals = s.meter.subIntervals()
	}
}

// extra is what a Pathwise peer is told about the stream besides.
func (s *stream) extra() StreamExtra {
	e := StreamExtra{Stream: s.index + 1, Sender: s.sender, LossRuns: max(0, s.to.lossRuns-s.from.lossRuns),
		Reordered: s.to.reordered - s.from.reordered, Duplicates: s.to.duplicates - s.from.duplicates}
	if s.tcp == nil {
		s.extraUDP(&e)
	}
	// A buffer or name that cannot be read any more stays absent.
	e.SendBuffer, _ = sock.SendBuffer(s.raw)
	e.ReceiveBuffer, _ = sock.ReceiveBuffer(s.raw)
	if s.filed {
		wait := time.Duration(s.fileWait.Load()).Seconds()
		e.FileWait = &wait
	}
	if s.tcp != nil {
		e.Discards = !s.sender && !s.filed
		e.Congestion, _ = sock.Congestion(s.raw)
		if info, err := sock.ReadTCPInfo(s.raw); err == nil {
			e.MSS = int(info.SndMSS)
		}
	}
	return e
}

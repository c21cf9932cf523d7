package iperf3

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// How much one call takes from the kernel. Of a datagram that comes alone the header is enough: the kernel drops the rest uncopied. Datagrams that it has
// merged (UDP_GRO, udp(7)) are read whole, as each has its header.
const (
	inAlone  = 64
	inMerged = 8
	inBytes  = 1 << 16
	// inControl holds all control messages of beside, of 24 bytes each and a stamp of 32.
	inControl = 160
)

// A receiver that finds datagrams at each look sleeps for inNap before the next, instead of being woken by each of them. The kernel stamps
// what comes meanwhile, and its buffer holds some milliseconds of any rate. It looks again at once where none came for inIdle.
const (
	inNap  = 100 * time.Microsecond
	inIdle = time.Millisecond
)

// receiveUDP counts datagrams until the end of the test, then what the kernel still holds.
func (t *transfer) receiveUDP(s *stream) error {
	in := newInbox(s.raw, t.params)
	if t.params.search() != nil {
		defer t.sendReports(s)()
	}
	var lingerUntil, last time.Time
	for {
		n, err := in.receive(s.raw)
		switch {
		case err == nil:
			t.gotMessages(s, in, n)
		case errors.Is(err, unix.ECONNREFUSED):
		case ended(err) && !lingerUntil.IsZero():
			t.lostBehind(s)
			return nil
		case ended(err):
			lingerUntil = time.Now().Add(udpLinger)
		default:
			return err
		}
		now := time.Now()
		switch {
		case lingerUntil.IsZero():
			if n > 0 && n < len(in.messages) && now.Sub(last) < inIdle {
				sleepFor(inNap)
			}
			last = now
		case now.After(lingerUntil):
			t.lostBehind(s)
			return nil
		default:
			s.conn.SetReadDeadline(now.Add(udpSettle))
		}
	}
}

// inbox is what one call of recvmmsg(2) fills.
type inbox struct {
	messages []mmsg
	vectors  []unix.Iovec
	buf      []byte
	control  [][inControl]byte
	room     int // bytes of a message that are kept
}

// newInbox asks the kernel for what it can tell of each datagram. What it refuses is not known.
func newInbox(raw syscall.RawConn, p Params) *inbox {
	count, room := inAlone, datagramHeader64
	if p.train() == nil {
		_ = sock.SetInt(raw, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
		if p.offload() && sock.SetInt(raw, unix.SOL_UDP, unix.UDP_GRO, 1) == nil {
			count, room = inMerged, inBytes
		}
	}
	_ = sock.SetInt(raw, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
	_ = tellFragments(raw)
	in := &inbox{messages: make([]mmsg, count), vectors: make([]unix.Iovec, count), buf: make([]byte, count*room),
		control: make([][inControl]byte, count), room: room}
	for i := range in.messages {
		in.vectors[i].Base = &in.buf[i*room]
		in.vectors[i].SetLen(room)
		m := &in.messages[i]
		m.Iov, m.Control = &in.vectors[i], &in.control[i][0]
		m.SetIovlen(1)
	}
	return in
}

// receive waits for datagrams and returns how many messages of them came.
func (in *inbox) receive(raw syscall.RawConn) (n int, err error) {
	for i := range in.messages {
		in.messages[i].SetControllen(inControl)
	}
	waited := raw.Read(func(fd uintptr) bool {
		got, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&in.messages[0])), uintptr(len(in.messages)),
			unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0)
		switch errno {
		case 0:
			n = int(got)
		case unix.EAGAIN:
			return false
		case unix.EINTR:
		default:
			err = os.NewSyscallError("recvmmsg", errno)
		}
		return true
	})
	return n, errors.Join(waited, err)
}

// message is the i-th message: what of it was kept, how long it was, and what the kernel tells beside it.
func (in *inbox) message(i int) (data []byte, length int, b beside) {
	m := &in.messages[i]
	length = int(m.length)
	return in.buf[i*in.room:][:min(length, in.room)], length, readBeside(in.control[i][:min(int(m.Controllen), inControl)])
}

// gotMessages counts the datagrams of messages.
func (t *transfer) gotMessages(s *stream, in *inbox, n int) {
	now := time.Now()
	elapsed := now.Sub(t.start)
	bytes := 0
	s.mu.Lock()
	for i := range n {
		data, length, b := in.message(i)
		at := elapsed
		if b.stamp != 0 {
			at -= time.Duration(now.UnixNano() - b.stamp)
		}
		bytes += t.gotMessage(s, data, length, b, at)
	}
	s.mu.Unlock()
	if bytes > 0 {
		t.got(s, bytes)
	}
}

// gotMessage counts a message, which may be several datagrams that the kernel merged, and returns how many bytes of payload it was. The stream's mutex is
// held.
func (t *transfer) gotMessage(s *stream, data []byte, length int, b beside, at time.Duration) int {
	if length == len(udpHello) { // the handshake again: its answer was lost, or came twice
		if [4]byte(data) == udpHello {
			_, _ = s.conn.Write(udpAnswer[:]) // lost as any datagram may be
		}
		return 0
	}
	each := length
	if b.merged > 0 && b.merged < length {
		each = b.merged
	}
	bytes, packets, transit := 0, int64(0), time.Duration(0)
	for from := 0; from < length && from < len(data); from += each {
		sent, seq, ok := ParseDatagram(data[from:], bool(t.params.Counters64))
		if !ok {
			continue
		}
		if !bool(t.params.Counters64) {
			seq = s.track.Widen(uint32(seq))
		}
		if from == 0 {
			s.hostLost(b, seq)
			transit = at - sent
			s.vary(seq, transit)
		}
		s.track.Add(seq, sent, at)
		if b.stamp != 0 && t.params.train() != nil && len(s.arrivals) < maxArrivals {
			s.arrivals = append(s.arrivals, Arrival{Sequence: int64(seq), At: b.stamp, Sent: int64(sent)})
		}
		if s.arrived[1] == 0 {
			s.arrived[0] = at
		}
		s.arrived[1] = max(s.arrived[1], at)
		packets++
		bytes += min(each, length-from)
	}
	if b.marked {
		s.marks[b.dscp] += packets
	}
	if b.fragment > 0 {
		s.fragmented += packets
		s.fragment = max(s.fragment, b.fragment)
	}
	s.together.Store(max(s.together.Load(), packets))
	if s.meter != nil && packets > 0 {
		s.meter.take(at, bytes, int(packets), transit, &s.track)
	}
	return bytes
}

// hostLost takes into account how many messages the kernel had dropped, as the socket's buffer was full, when it queued the one whose first datagram has
// a sequence number. A message that was dropped may be of several datagrams: then those that are missing before this one were in it, as many as fit.
func (s *stream) hostLost(b beside, seq uint64) {
	if !b.dropsTold {
		return
	}
	more := int64(b.drops - s.drops) // modulo 2^32
	s.drops = b.drops
	if more == 0 || more > 1<<31 {
		return
	}
	missing := int64(0)
	if seq > s.track.Highest {
		missing = int64(seq - s.track.Highest - 1)
	}
	if s.together.Load() > 1 {
		more = max(more, min(missing, more*mostBurstPackets))
	}
	s.overflowed += more
}

// lostBehind counts what the kernel dropped after the last datagram that it queued.
func (t *transfer) lostBehind(s *stream) {
	use, err := sock.MemInfo(s.raw)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if more := uint32(use.Drops) - s.drops; more < 1<<31 {
		s.overflowed += int64(more)
		s.drops += more
	}
}

package iperf3

import (
	"errors"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sendUDP sends a paced stream, or trains.
func (t *transfer) sendUDP(s *stream) error {
	runtime.LockOSThread() // for the timer slack, and so that sleeping wakes this goroutine directly
	defer runtime.UnlockOSThread()
	exactSleep()
	size := max(int(t.params.Len), minUDPLength)
	if train := t.params.train(); train != nil {
		return t.sendTrains(s, size, *train)
	}
	if t.params.search() != nil {
		return t.sendSearch(s, size)
	}
	out := newOutbox(s, size, t.params.offload(), bool(t.params.Counters64))
	pace := newPace(size, t.rateOf(s), int(t.params.Burst), t.elapsed())
	for !t.halted.Load() {
		now := t.elapsed()
		n, wait := pace.next(now, out.most())
		if n == 0 {
			sleepFor(min(wait, udpPoll))
			continue
		}
		n = (t.take(n*size) + size - 1) / size
		if n == 0 {
			return nil
		}
		if err := out.send(n, now); err != nil {
			return err
		}
	}
	return nil
}

// outMessages is how many messages one call takes. Four super-packets are 90 us of 20 Gbit/s; so many single datagrams fill a wake-up up
// to 15 Gbit/s.
const (
	outSuper  = 4
	outSingle = 64
)

// outbox hands a stream's datagrams to the kernel, several with one call of sendmmsg(2). With offload the kernel or the adapter cuts each
// message into datagrams (UDP_SEGMENT, udp(7)):
//
//	| message: datagram | datagram | … | message: datagram | datagram | … |        cut datagrams in a message; 1 without offload
type outbox struct {
	s        *stream
	size     int // bytes of a datagram
	cut      int
	wide     bool // 64-bit sequence numbers
	buf      []byte
	messages [outSingle]mmsg
	vectors  [outSingle]unix.Iovec
}

// mmsg is struct mmsghdr (sendmmsg(2), recvmmsg(2)).
type mmsg struct {
	unix.Msghdr
	length uint32
	_      [4]byte
}

func newOutbox(s *stream, size int, offload, wide bool) *outbox {
	o := &outbox{s: s, size: size, cut: 1, wide: wide}
	if burst := min(mostBurstBytes/size, mostBurstPackets); offload && burst > 1 && cutBursts(s.raw, size) == nil {
		o.cut = burst
	}
	_ = tellUnsent(s.raw) // a kernel that does not leaves it to the path
	o.buf = payload(size * o.most())
	return o
}

// most is how many datagrams one call carries.
func (o *outbox) most() int {
	if o.cut > 1 {
		return outSuper * o.cut
	}
	return outSingle
}

// send numbers and times n datagrams, at most as many as most says, and hands them to the kernel.
func (o *outbox) send(n int, now time.Duration) error {
	seq := o.s.packets.Load()
	for i := range n {
		PutDatagram(o.buf[i*o.size:], now, uint64(seq)+uint64(i)+1, o.wide)
	}
	err := o.handOver(o.buf[:n*o.size])
	o.s.packets.Store(seq + int64(n))
	return err
}

// handOver sends datagrams that lie one behind the other. Those that this host could not send are counted, and lost.
func (o *outbox) handOver(data []byte) error {
	o.s.together.Store(max(o.s.together.Load(), int64(min(o.cut, len(data)/o.size))))
	tries := 0
	for len(data) > 0 {
		sent, err := o.call(data)
		o.s.count.Add(int64(sent))
		data = data[sent:]
		first := min(o.cut*o.size, len(data)) // of the message that was refused
		switch {
		case err == nil:
		case earlier(err) && tries < earlierTries:
			tries++
		case o.cut > 1 && uncut(err):
			if err := cutBursts(o.s.raw, 0); err != nil {
				return err
			}
			o.cut = 1
			most := o.most() * o.size
			for ; len(data) > most; data = data[most:] { // one call carries fewer
				if err := o.handOver(data[:most]); err != nil {
					return err
				}
			}
		case lostAtOnce(err):
			o.s.unsent.Add(int64(first / o.size))
			data = data[first:]
		default:
			return err
		}
	}
	return nil
}

// call makes one call with messages of all the data, and returns how many of its bytes the kernel took before it refused one.
func (o *outbox) call(data []byte) (sent int, err error) {
	n := 0
	for rest := data; len(rest) > 0; n++ {
		length := min(o.cut*o.size, len(rest))
		o.vectors[n].Base = unsafe.SliceData(rest)
		o.vectors[n].SetLen(length)
		o.messages[n].Iov = &o.vectors[n]
		o.messages[n].SetIovlen(1)
		rest = rest[length:]
	}
	waited := o.s.raw.Write(func(fd uintptr) bool {
		got, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&o.messages[0])), uintptr(n), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			sent = min(int(got)*o.cut*o.size, len(data))
		case unix.EAGAIN:
			return false
		case unix.EINTR: // nothing was sent; the caller tries again
		default:
			err = os.NewSyscallError("sendmmsg", errno)
		}
		return true
	})
	return sent, errors.Join(waited, err)
}

// earlierTries is how often a call is made again that failed for what happened to an earlier datagram: each such error is told once.
const earlierTries = 8

// earlier reports whether an error is one that an ICMP message about an earlier datagram makes a call return (ip(7), IP_RECVERR).
func earlier(err error) bool {
	for _, e := range []error{unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.EPROTO, unix.EMSGSIZE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// lostAtOnce reports whether datagrams that could not be sent are no more than lost: the error is that of an ICMP message about an
// earlier one, or our own interface's queue is full.
func lostAtOnce(err error) bool {
	return errors.Is(err, unix.ENOBUFS) || earlier(err) && !errors.Is(err, unix.EMSGSIZE)
}

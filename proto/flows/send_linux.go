package flows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/stat"
	"github.com/pathwise-net/pathwise/traffic"
)

// Sent is what one end sent of a flow.
type Sent struct {
	Port              uint16 // of the client's host, that the flow left from or came to
	Packets           int
	Bytes             int64 // of UDP payload
	Skipped           int   // packets that could have left only later than traffic.MostLate, and did not
	Refused           int   // packets that the sender's kernel did not take, such as those too large for its interface
	LateP95, LateMost time.Duration
	Intervals         []int // packets that were due in each interval of the script, of those that were sent
}

// most is how many datagrams one call carries: of a frame, all of usual ones.
const most = 64

// outlet is the socket of one flow.
type outlet struct {
	flow    int
	raw     syscall.RawConn
	replies *sock.Replies // by which the flow shares a server's socket; nil: it has a connected one of its own
	dscp    int
	beside  []byte // control messages of each datagram
	sent    Sent
	late    stat.Histogram
}

// sender sends the packets of all flows from one thread, several with one call of sendmmsg(2). What a datagram carries behind its header is the same
// for all, and cannot be compressed on the way:
//
//	message: | header | padding … |        headers are of each message, the padding is shared
type sender struct {
	number   number
	interval time.Duration // of the script
	first    bool          // it comes before other programs: not on a server, whose clients are not its owner
	outlets  []outlet      // by flow
	headers  [most][headerBytes]byte
	padding  []byte
	vectors  [most][2]unix.Iovec
	messages [most]mmsg
}

// mmsg is struct mmsghdr (sendmmsg(2)).
type mmsg struct {
	unix.Msghdr
	length uint32
	_      [4]byte
}

// send sends the flows of a script that go one way from one thread of its own, and returns what was sent of each, also where it fails or ctx ends.
func send(ctx context.Context, n number, script *traffic.Script, terms Terms, reverse bool, outlets []outlet) ([]Sent, error) {
	s := &sender{number: n, interval: terms.Interval, first: !reverse, padding: make([]byte, traffic.MostBytes), outlets: outlets}
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(s.padding) // never fails
	for i := range outlets {
		outlets[i].flow, outlets[i].sent.Intervals = i, make([]int, terms.Intervals)
		outlets[i].mark(0)
	}
	done := make(chan error, 1)
	go func() { done <- s.run(ctx, traffic.NewPacer(script, reverse)) }()
	err := <-done
	all := make([]Sent, len(outlets))
	for i := range outlets {
		o := &outlets[i]
		all[i] = o.sent
		all[i].LateP95, all[i].LateMost = time.Duration(o.late.Quantile(0.95)), time.Duration(o.late.Max())
	}
	return all, err
}

// openOutlet opens a socket of a client's flow.
func openOutlet(from netip.Addr, to netip.AddrPort) (conn net.Conn, o outlet, err error) {
	conn, err = net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from.WithZone(to.Addr().Zone()), 0)), net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, o, fmt.Errorf("open flow: %w", err)
	}
	o.sent.Port = conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	if o.raw, err = conn.(*net.UDPConn).SyscallConn(); err == nil { // the kernel then says of datagrams that it drops itself (ip(7), IP_RECVERR)
		level, option := unix.IPPROTO_IP, unix.IP_RECVERR
		if to.Addr().Is6() {
			level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
		}
		err = sock.SetInt(o.raw, level, option, 1)
	}
	if err != nil {
		conn.Close()
		return nil, o, fmt.Errorf("open flow: %w", err)
	}
	return conn, o, nil
}

// mark has later datagrams leave with a mark.
func (o *outlet) mark(dscp int) (err error) {
	if o.replies != nil {
		o.beside = o.replies.Control(dscp << 2) // the lower two bits are of ECN (RFC 3168)
	} else if dscp != o.dscp {
		err = sock.SetDSCP(o.raw, dscp)
	}
	o.dscp = dscp
	return err
}

// run paces the packets. It locks the thread and never lets go of it, so that the thread ends with the goroutine, and its priority and timer slack with it.
func (s *sender) run(ctx context.Context, pacer *traffic.Pacer) error {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // else the kernel wakes the thread up to 50 µs late; fails on no Linux
	if s.first {
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20) // without the privilege, it competes on equal terms
	}
	began := time.Now()
	batch := make([]traffic.Leaving, most)
	for {
		at, any := pacer.Ready()
		if !any {
			return nil
		}
		if err := waitUntil(ctx, began.Add(at)); err != nil {
			return err
		}
		n := pacer.Take(time.Since(began), batch)
		for rest := batch[:n]; len(rest) > 0; {
			together := alike(rest)
			if err := s.emit(ctx, rest[:together], began); err != nil {
				return cmp.Or(context.Cause(ctx), err)
			}
			rest = rest[together:]
		}
	}
}

const (
	// coarse is what the Go runtime may be late by at the end of a sleep: its poller counts in milliseconds.
	coarse = 2 * time.Millisecond
	// spin is the end of a wait in which the thread looks at the clock instead of sleeping: what waking takes on a virtual machine.
	spin = 40 * time.Microsecond
)

// waitUntil waits for a moment, to some microseconds.
func waitUntil(ctx context.Context, moment time.Time) error {
	if left := time.Until(moment); left > 2*coarse {
		select {
		case <-time.After(left - coarse):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for left := time.Until(moment); left > 0; left = time.Until(moment) {
		if left > spin {
			limit := unix.NsecToTimespec(int64(left - spin))
			_ = unix.Nanosleep(&limit, nil) // a signal ends it early, and the loop goes on
		}
	}
	return nil
}

// alike is how many packets at the head of a batch leave by one call: those of one flow and mark; or are skipped.
func alike(batch []traffic.Leaving) int {
	n := 1
	for n < len(batch) && batch[n].Flow == batch[0].Flow && batch[n].DSCP == batch[0].DSCP && batch[n].Skipped == batch[0].Skipped {
		n++
	}
	return n
}

// emit sends packets of one flow, numbered in the order in which the kernel takes them. Those that it refuses have no number.
func (s *sender) emit(ctx context.Context, batch []traffic.Leaving, began time.Time) error {
	o := &s.outlets[batch[0].Flow]
	if batch[0].Skipped {
		o.sent.Skipped += len(batch)
		return nil
	}
	if dscp := batch[0].DSCP; dscp != o.dscp {
		if err := o.mark(dscp); err != nil {
			return fmt.Errorf("mark flow: %w", err)
		}
	}
	tries := 0
	for len(batch) > 0 {
		now := time.Now()
		n, err := s.call(o, batch, now)
		for i := range n {
			o.sent.Packets++
			o.sent.Bytes += int64(batch[i].Bytes)
			o.sent.Intervals[s.during(o, batch[i].Due)]++
			o.late.Record(int64(now.Sub(began) - batch[i].Due))
		}
		batch = batch[n:]
		switch {
		case err == nil:
		case errors.Is(err, unix.EAGAIN):
			if ctx.Err() != nil { // behind a slow interface there may be no room for minutes
				return context.Cause(ctx)
			}
			pause := unix.NsecToTimespec(int64(roomEvery))
			_ = unix.Nanosleep(&pause, nil)
		case ofEarlier(err) && tries < earlierTries:
			tries++
		case refused(err) || ofEarlier(err):
			o.sent.Refused++
			batch, tries = batch[1:], 0
		default:
			return fmt.Errorf("send packet: %w", err)
		}
	}
	return nil
}

// roomEvery is how often a sender looks for room in the buffer of a socket: at 1 Gbit/s the usual one of 200 kB is empty after 1.7 ms.
const roomEvery = 200 * time.Microsecond

// during is the interval of the script in which a packet is due; the last, where the terms have too few.
func (s *sender) during(o *outlet, due time.Duration) int {
	return min(int(due/s.interval), len(o.sent.Intervals)-1)
}

// call hands packets to the kernel by one call, and returns how many it took before it refused one.
func (s *sender) call(o *outlet, batch []traffic.Leaving, now time.Time) (sent int, err error) {
	d := datagram{number: s.number, flow: o.flow, dscp: o.dscp, seq: uint32(o.sent.Packets), sent: now.UnixNano()}
	for i := range batch {
		d.during = s.during(o, batch[i].Due)
		d.encode(s.headers[i][:])
		d.seq++
		v, m := &s.vectors[i], &s.messages[i]
		v[0].Base, v[1].Base = &s.headers[i][0], &s.padding[0]
		v[0].SetLen(headerBytes)
		v[1].SetLen(batch[i].Bytes - headerBytes)
		m.Iov = &v[0]
		m.SetIovlen(len(v))
		m.Name, m.Namelen, m.Control = nil, 0, unsafe.SliceData(o.beside)
		m.SetControllen(len(o.beside))
		if o.replies != nil {
			m.Name, m.Namelen = unsafe.SliceData(o.replies.Name), uint32(len(o.replies.Name))
		}
	}
	failed := o.raw.Control(func(fd uintptr) {
		got, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&s.messages[0])), uintptr(len(batch)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			sent = int(got)
		case unix.EINTR: // nothing was sent; the caller tries again
		default:
			err = os.NewSyscallError("sendmmsg", errno)
		}
	})
	return sent, errors.Join(failed, err)
}

// earlierTries is how often a call is made again that failed for what happened to an earlier datagram: each such error is told once.
const earlierTries = 8

// ofEarlier reports whether an error is one that an ICMP message about an earlier datagram makes a call return (ip(7), IP_RECVERR).
func ofEarlier(err error) bool {
	for _, e := range []error{unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.EPROTO, unix.EMSGSIZE, unix.EACCES} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// refused reports whether this host refused a packet and may take the next one.
func refused(err error) bool {
	for _, e := range []error{unix.ENOBUFS, unix.ENOMEM, unix.EPERM, unix.ENETDOWN} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// connectRun is a ping by whole TCP connections, each of which is closed as soon as it is open. It needs no privilege. The round trip
// is the far kernel's answer to the SYN, by this kernel's account of it in TCP_INFO. A refusal (RST) is an answer, too, by this process's
// clock. Where the kernel had to send the SYN again the first one, or its answer, was lost.
type connectRun struct {
	Ping
	to       netip.AddrPort
	last     bool // there is no other address to try
	started  time.Time
	echoes   []measure.Echo
	known    []bool // of echoes: its fate
	arrivals []uint64
	kernel   int
}

// connected is what came of one attempt to connect.
type connected struct {
	index  int
	rtt    *float64 // nil: lost
	kernel bool
	err    error // of what is neither an answer nor silence
}

// do makes all attempts, each as it is due, and waits for their ends.
func (r *connectRun) do(ctx context.Context) error {
	ended := make(chan connected)
	attempts := 0
	defer func() {
		for ; attempts > 0; attempts-- {
			<-ended
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.started = time.Now()
	plan := pingPlan(r.Count, r.Interval, r.Poisson, r.Rand)
	due := time.NewTimer(0)
	defer due.Stop()
	for sent := 0; sent < len(plan) || attempts > 0; {
		select {
		case <-due.C:
			if sent == len(plan) || r.Deadline > 0 && plan[sent] > r.Deadline {
				plan = plan[:sent]
				continue
			}
			index := sent
			r.echoes = append(r.echoes, measure.Echo{Seq: index + 1, SentSeconds: time.Since(r.started).Seconds()})
			r.known = append(r.known, false)
			a, err := r.open()
			if err != nil {
				return err
			}
			attempts++
			go func() { ended <- r.outcome(ctx, index, a) }()
			if sent++; sent < len(plan) {
				// What a stall made late is sent late, one interval after the other, and not in one burst.
				due.Reset(max(time.Until(r.started.Add(plan[sent])), min(r.Interval, plan[sent]-plan[sent-1])/2))
			}
		case c := <-ended:
			attempts--
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := r.settle(c); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// settle notes the fate of an attempt. The error is that nothing at all can be sent.
func (r *connectRun) settle(c connected) error {
	e := &r.echoes[c.index]
	e.RTTSeconds, r.known[c.index] = c.rtt, true
	switch {
	case c.rtt != nil:
		r.arrivals = append(r.arrivals, uint64(e.Seq))
		if c.kernel {
			r.kernel++
		}
	case c.index == 0 && !r.last && isUnreachable(c.err):
		return &unreachableError{c.err.Error()}
	case c.err != nil:
		e.Error = c.err.Error()
	}
	if r.Progress != nil {
		r.Progress(*e)
	}
	return nil
}

// connecting is a connection that was begun.
type connecting struct {
	socket *os.File
	began  time.Time
	said   error // what the kernel said at once; nil: it takes time
}

// open begins a connection, on the goroutine that knows when it is due.
func (r *connectRun) open() (a connecting, err error) {
	domain, address := unix.AF_INET, unix.Sockaddr(nil)
	if ip := r.to.Addr(); ip.Is6() {
		domain, address = unix.AF_INET6, &unix.SockaddrInet6{Port: r.Port, Addr: ip.As16()}
	} else {
		address = &unix.SockaddrInet4{Port: r.Port, Addr: ip.As4()}
	}
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return a, os.NewSyscallError("socket", err)
	}
	a.socket = os.NewFile(uintptr(fd), "connection")
	if err := r.prepare(a.socket); err != nil {
		a.socket.Close()
		return a, err
	}
	a.began = time.Now()
	if a.said = unix.Connect(fd, address); errors.Is(a.said, unix.EINPROGRESS) {
		a.said = nil
	}
	return a, nil
}

// prepare makes a connection's packets as the parameters say.
func (r *connectRun) prepare(socket *os.File) error {
	c, err := socket.SyscallConn()
	if err == nil && r.TTL != 0 {
		err = sock.SetTTL(c, r.TTL)
	}
	if err == nil && r.DSCP != 0 {
		err = sock.SetDSCP(c, r.DSCP)
	}
	return err
}

// outcome waits for what comes of a connection, and closes it.
func (r *connectRun) outcome(ctx context.Context, index int, a connecting) connected {
	defer a.socket.Close()
	defer context.AfterFunc(ctx, func() { _ = a.socket.SetDeadline(time.Unix(1, 0)) })() // fails only on a closed socket
	c, err := a.socket.SyscallConn()
	if err == nil && ctx.Err() == nil {
		err = a.socket.SetDeadline(a.began.Add(r.Timeout))
	}
	if err != nil {
		return connected{index: index, err: err}
	}
	said := a.said
	if said == nil {
		err = c.Write(func(fd uintptr) (done bool) {
			code, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
			if said = err; err == nil && code != 0 {
				said = unix.Errno(code)
			}
			_, opening := unix.Getpeername(int(fd))
			return said != nil || opening == nil
		})
	}
	took := time.Since(a.began)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return connected{index: index}
	case errors.Is(said, unix.ECONNREFUSED) && took < firstTimeout:
		return connected{index: index, rtt: new(took.Seconds())}
	case errors.Is(said, unix.ECONNREFUSED), errors.Is(said, unix.ETIMEDOUT):
		return connected{index: index}
	case err != nil || said != nil:
		return connected{index: index, err: errors.Join(err, said)}
	}
	info, err := sock.ReadTCPInfo(c)
	if err != nil || info.TotalRetrans > 0 {
		return connected{index: index, err: err}
	}
	return connected{index: index, rtt: new(info.RTT.Seconds()), kernel: true}
}

// firstTimeout is when the kernel sends a SYN again (RFC 6298, 2.1): an answer after that may be to either.
const firstTimeout = time.Second

// report fills in what was measured. Attempts whose fate is open are neither answered nor lost.
func (r *connectRun) report(result *measure.Result) {
	open := 0
	for i, e := range r.echoes {
		if r.known[i] {
			result.Samples.Echoes = append(result.Samples.Echoes, e)
		} else {
			open++
		}
	}
	if open > 0 {
		result.Note(fmt.Sprintf("%d connections were being opened when the measurement was cut short and are not counted", open))
	}
	result.Metrics = reduceEchoes(result.Samples.Echoes, r.arrivals)
	result.Parameters["stamps"], result.Parameters["socket"] = "kernel", "connection"
	if 2*r.kernel < len(r.arrivals) {
		result.Parameters["stamps"] = "user"
	}
}

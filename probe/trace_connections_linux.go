package probe

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

// connectionWire makes a TCP connection for each probe, which needs no privilege: the TTL that runs out ends it, and its error queue says
// where. The kernel gives each a source port of its own, so routers that spread flows may send them different ways; and it stamps nothing,
// so round trips are by this process's clock.
type connectionWire struct {
	Trace
	flow    *traceFlow
	events  chan any
	waiting sync.WaitGroup
	ended   context.Context
	end     context.CancelFunc
}

func newConnectionWire(ctx context.Context, t Trace, flow *traceFlow) *connectionWire {
	w := &connectionWire{Trace: t, flow: flow, events: make(chan any, traceQueue)}
	w.ended, w.end = context.WithCancel(context.WithoutCancel(ctx))
	return w
}

func (w *connectionWire) send(id, ttl int, _ bool) (time.Time, error) {
	c, err := sock.BeginConnect(netip.AddrPortFrom(w.flow.target, w.flow.to.Port()), func(conn syscall.RawConn) error {
		_ = sock.HearExtensions(conn)
		return cmp.Or(sock.HearICMP(w.flow.to.Addr().Is6())(conn), sock.SetTTL(conn, ttl), sock.SetDSCP(conn, w.DSCP))
	})
	if err != nil {
		return time.Time{}, err
	}
	w.waiting.Go(func() {
		defer c.Close()
		defer context.AfterFunc(w.ended, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
		if w.ended.Err() != nil || c.SetDeadline(c.Began.Add(w.Timeout)) != nil { // before the kernel sends a second SYN
			return
		}
		if a, ok := w.await(id, c); ok {
			select {
			case w.events <- a:
			case <-w.ended.Done():
			}
		}
	})
	return c.Began, nil
}

// await waits for what becomes of a connection. Whatever does, nothing more is sent on it.
func (w *connectionWire) await(id int, c *sock.Connecting) (traceAnswer, bool) {
	err := c.Wait()
	a := traceAnswer{id: id, from: w.flow.to.Addr(), at: sock.Stamp{User: time.Now()}, reached: true, reply: "SYN ACK"}
	switch e, told := c.ICMP(); {
	case err == nil:
		return a, true
	case told:
		said := icmp.Error{IPv6: e.IPv6, Type: e.Type, Code: e.Code, MTU: e.MTU, Extensions: w.flow.extensionsOf(e)}
		a = w.flow.answerOf(said, e.Offender, e.TTL, a.at)
		a.id = id
		return a, true
	case errors.Is(err, unix.ECONNREFUSED):
		a.reply = "RST"
		return a, true
	}
	return traceAnswer{}, false
}

func (w *connectionWire) heard() <-chan any { return w.events }
func (w *connectionWire) by() string        { return byConnections }

func (w *connectionWire) close() {
	w.end()
	w.waiting.Wait()
}

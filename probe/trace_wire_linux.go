package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

// traceWire sends the probes of a trace and passes on what comes back. Its goroutines end with close.
type traceWire interface {
	// send sends probe id with a TTL, and returns the time just before. distinct gives it a destination port of its own.
	send(id, ttl int, distinct bool) (before time.Time, err error)
	// heard yields traceAnswer and traceStamp, and an error where nothing more is heard.
	heard() <-chan any
	// by is how answers are heard, as measure.RouteSample has it.
	by() string
	close()
}

// traceStamp is when the kernel sent a probe.
type traceStamp struct {
	id     int
	kernel time.Time
}

// traceListener keeps what became of the probes of a trace: a plan, or a search.
type traceListener interface {
	stamped(id int, kernel time.Time)
	// hear says whether an answer counts.
	hear(a traceAnswer) bool
}

// deliver has a listener take what a wire heard. The error is the wire's.
func deliver(event any, to traceListener) error {
	switch e := event.(type) {
	case traceStamp:
		to.stamped(e.id, e.kernel)
	case traceAnswer:
		to.hear(e)
	case error:
		return e
	}
	return nil
}

// How answers are heard, as measure.RouteSample has it.
const (
	byRaw         = "raw sockets"
	byQueue       = "error queue"
	byConnections = "connections"
)

// traceQueue is how many answers may wait to be taken: more than there are probes on their way at the default spacing within 200 ms.
const traceQueue = 256

// packetWire sends on one socket, and hears ICMP errors on a raw one where that is allowed, else by the error queue of the first.
type packetWire struct {
	flow    *traceFlow
	sender  *sock.Socket
	raw     *sock.Socket // nil: not allowed
	sent    atomic.Int64 // one more than the highest number of a probe that left, or is about to
	events  chan any
	reading sync.WaitGroup
	ended   context.Context
	end     context.CancelFunc
}

// openWire opens what a trace of a flow needs, and gives the flow its port. Whoever opens it closes it.
func openWire(ctx context.Context, t Trace, flow *traceFlow) (traceWire, error) {
	w, err := openPackets(ctx, t, flow)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return newConnectionWire(ctx, t, flow), nil
	}
	w.reading.Go(func() { w.read(w.sender, w.fromSender) })
	if w.raw != nil {
		w.reading.Go(func() { w.read(w.raw, w.fromRaw) })
	}
	return w, nil
}

// openPackets opens the sockets of a packetWire, which nobody reads yet; nil, without an error, where this host does not allow them.
func openPackets(ctx context.Context, t Trace, flow *traceFlow) (*packetWire, error) {
	raw, err := sock.OpenICMP(flow.to.Addr().Is6())
	if err != nil {
		if raw = nil; !isPermission(err) {
			return nil, err
		}
	}
	if raw == nil && t.Middlebox {
		return nil, fmt.Errorf("hear what routers quote of a packet, which the kernel tells by raw sockets alone: %w", err)
	}
	if raw == nil && t.Protocol == traceTCP {
		return nil, nil
	}
	sender, err := openTraceSender(t, flow, raw != nil)
	if err != nil {
		if raw != nil {
			raw.Close()
		}
		return nil, err
	}
	w := &packetWire{flow: flow, sender: sender, raw: raw, events: make(chan any, traceQueue)}
	w.ended, w.end = context.WithCancel(context.WithoutCancel(ctx))
	return w, nil
}

func isPermission(err error) bool {
	var denied *sock.PermissionError
	return errors.As(err, &denied)
}

func (w *packetWire) send(id, ttl int, distinct bool) (time.Time, error) {
	if err := w.sender.SetTTL(ttl); err != nil {
		return time.Time{}, err
	}
	port := w.flow.to.Port()
	if w.flow.protocol == traceUDP && w.flow.ports != nil {
		port = uint16(w.flow.ports[id].Load())
	} else if distinct && w.flow.protocol == traceUDP {
		port = w.flow.distinctPort(id)
	}
	w.sent.Store(max(w.sent.Load(), int64(id+1))) // before it leaves: the answer of a near target is here before the call returns
	_, before, err := w.sender.Send(w.flow.request(id), netip.AddrPortFrom(w.flow.target, port))
	return before, err
}

func (w *packetWire) heard() <-chan any { return w.events }

func (w *packetWire) by() string {
	if w.raw != nil {
		return byRaw
	}
	return byQueue
}

// read passes on what a socket hears until the wire is closed.
func (w *packetWire) read(s *sock.Socket, take func(sock.Event) any) {
	for {
		event, err := s.Receive(time.Time{})
		if err != nil && w.ended.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			w.pass(fmt.Errorf("receive: %w", err))
			return
		}
		if w.ended.Err() != nil || err != nil {
			return
		}
		if heard := take(event); heard != nil {
			w.pass(heard)
		}
	}
}

func (w *packetWire) pass(heard any) {
	select {
	case w.events <- heard:
	case <-w.ended.Done():
	}
}

// fromSender takes what the socket of the probes hears: when they left, what the target answered, and, where nothing else hears them, ICMP errors.
func (w *packetWire) fromSender(event sock.Event) any {
	sent := int(w.sent.Load())
	switch e := event.(type) {
	case sock.Sent:
		return traceStamp{int(e.ID), e.Kernel}
	case sock.Packet:
		if id, how, ok := w.flow.answered(e.Data, e.From, sent); ok {
			return traceAnswer{id: id, from: w.flow.to.Addr(), at: e.At, ttl: e.TTL, reached: true, reply: how}
		}
	case sock.ICMPError:
		if w.raw != nil {
			return nil
		}
		id, nameless, ok := w.flow.queued(e, sent)
		if nameless {
			return traceAnswer{nameless: true}
		}
		if !ok {
			return nil
		}
		said := icmp.Error{IPv6: e.IPv6, Type: e.Type, Code: e.Code, MTU: e.MTU, Extensions: w.flow.extensionsOf(e)}
		a := w.flow.answerOf(said, e.Offender, e.TTL, e.At)
		if a.id = id; e.To.Addr() != w.flow.to.Addr() {
			a.translated = translatedTarget + e.To.String()
		}
		return a
	}
	return nil
}

// fromRaw takes the ICMP errors that come to this host, of which only those about our probes matter.
func (w *packetWire) fromRaw(event sock.Event) any {
	p, ok := event.(sock.Packet)
	if !ok {
		return nil
	}
	if w.flow.idents { // the sender hears replies with its own identifier alone
		if a := w.fromSender(event); a != nil {
			return a
		}
	}
	e, err := icmp.Parse(p.Data, w.flow.to.Addr().Is6())
	if err != nil {
		return nil
	}
	return w.fromError(p, e)
}

// fromError takes an ICMP error, if it is about one of our probes.
func (w *packetWire) fromError(p sock.Packet, e icmp.Error) any {
	id, ok := w.flow.quoted(e.Quote, int(w.sent.Load()))
	if !ok {
		return nil
	}
	a := w.flow.answerOf(e, p.From.Addr().WithZone(""), p.TTL, p.At)
	a.shift, a.translated = w.flow.shift(e.Quote, id), w.flow.translated(e.Quote, id)
	if w.flow.crafted != nil {
		a.ecn, e.Quote.Transport = ecnCapable, bytes.Clone(e.Quote.Transport)
		if strings.HasPrefix(a.translated, translatedChecksum) { // so is the sum where a firewall hides sequence numbers, and changes them back in the quote
			a.translated = ""
		}
	} else {
		e.Quote.Transport = nil // it lies in the socket's own bytes
	}
	a.id, a.told = id, &e.Quote
	return a
}

func (w *packetWire) close() {
	w.end()
	w.sender.Interrupt()
	if w.raw != nil {
		w.raw.Interrupt()
	}
	w.reading.Wait()
	w.sender.Close()
	if w.raw != nil {
		w.raw.Close()
	}
}

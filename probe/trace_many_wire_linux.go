package probe

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

// manyWires send the probes of many flows, and tell what comes back of which. Flows from one address of this host share their sockets, since each socket for ICMP
// errors hears those of all. TCP without root has connections, and so a wire for each flow.
type manyWires struct {
	Trace
	shared  map[netip.Addr]*sharedWire // by the address of this host
	events  chan manyEvent
	reading sync.WaitGroup
	ended   context.Context
	end     context.CancelFunc
}

// manyEvent is what a wire heard, of a flow.
type manyEvent struct {
	flow  *traceFlow
	event any
}

// manyQueue is how many events may wait to be taken: more than all routers answer within a tenth of a second.
const manyQueue = 1024

func newManyWires(ctx context.Context, t Trace) *manyWires {
	m := &manyWires{Trace: t, shared: map[netip.Addr]*sharedWire{}, events: make(chan manyEvent, manyQueue)}
	m.ended, m.end = context.WithCancel(context.WithoutCancel(ctx))
	return m
}

func (m *manyWires) close() {
	m.end()
	for _, s := range m.shared {
		s.carrier.close()
	}
	m.reading.Wait()
}

func (m *manyWires) pass(flow *traceFlow, event any) {
	select {
	case m.events <- manyEvent{flow, event}:
	case <-m.ended.Done():
	}
}

// open returns the wire of a flow, which its user closes, and gives the flow its port. No two flows under way have one target.
func (m *manyWires) open(ctx context.Context, flow *traceFlow) (traceWire, error) {
	from := flow.from.Addr()
	if s := m.shared[from]; s != nil {
		return s.add(flow), nil
	}
	carrier, err := openPackets(ctx, m.Trace, flow)
	if err != nil {
		return nil, err
	}
	if carrier == nil {
		return m.alone(newConnectionWire(ctx, m.Trace, flow), flow), nil
	}
	m.shared[from] = m.share(carrier)
	return m.shared[from].add(flow), nil
}

// alone passes on what a wire of one flow hears, until it is closed.
func (m *manyWires) alone(wire traceWire, flow *traceFlow) traceWire {
	over := make(chan struct{})
	m.reading.Go(func() {
		for {
			select {
			case event := <-wire.heard():
				m.pass(flow, event)
			case <-over:
				return
			case <-m.ended.Done():
				return
			}
		}
	})
	return &loneWire{wire, over}
}

type loneWire struct {
	traceWire
	over chan struct{}
}

func (l *loneWire) close() {
	l.traceWire.close()
	close(l.over)
}

// sharedWire is the sockets of all flows from one address.
type sharedWire struct {
	*manyWires
	carrier *packetWire
	from    netip.AddrPort

	mu     sync.RWMutex
	flows  map[netip.Addr]*flowWire // by target, without a zone
	tokens map[[tokenSize]byte]*flowWire
	left   [1 << 13]leftPacket // by the number that the kernel stamps it under: more than leave before stamps of theirs are read
	count  uint32              // packets that left
}

type leftPacket struct {
	wire *flowWire
	id   int
}

// share reads the sockets of a wire for all flows.
func (m *manyWires) share(carrier *packetWire) *sharedWire {
	s := &sharedWire{manyWires: m, carrier: carrier, from: carrier.flow.from, flows: map[netip.Addr]*flowWire{}, tokens: map[[tokenSize]byte]*flowWire{}}
	carrier.reading.Go(func() { carrier.read(carrier.sender, s.fromSender) })
	if carrier.raw != nil {
		carrier.reading.Go(func() { carrier.read(carrier.raw, s.fromRaw) })
	}
	m.reading.Go(func() { // an error that ended the reading
		select {
		case event := <-carrier.events:
			m.pass(nil, event)
		case <-m.ended.Done():
		}
	})
	return s
}

func (s *sharedWire) add(flow *traceFlow) *flowWire {
	flow.from = s.from
	w := &flowWire{packetWire: packetWire{flow: flow, sender: s.carrier.sender, raw: s.carrier.raw}, shared: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flows[flow.to.Addr()], s.tokens[flow.token] = w, w
	return w
}

func (s *sharedWire) of(target netip.Addr) *flowWire {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.flows[target]
}

// quoted is whose probe an ICMP error quotes: by its token, which translators of addresses leave, else by its target, else, where that was changed, by its sequence number.
func (s *sharedWire) quoted(q icmp.Quote) *flowWire {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if w := s.tokens[tokenOf(q)]; w != nil {
		return w
	}
	if w := s.flows[q.To]; w != nil || q.Protocol != icmp.ProtocolTCP {
		return w
	}
	for _, w := range s.flows {
		if _, ok := w.flow.quoted(q, 1<<16); ok {
			return w
		}
	}
	return nil
}

// queuedQuote is what an entry of the error queue shows of a packet.
func (s *sharedWire) queuedQuote(e sock.ICMPError) icmp.Quote {
	if s.Protocol == traceICMP {
		return echoQueued(e, s.from.Addr().WithZone(""))
	}
	return icmp.Quote{To: e.To.Addr(), Protocol: icmp.ProtocolUDP, Transport: append(make([]byte, udpHeader), e.Quoted...)}
}

// fromSender passes on what the socket of the probes hears to whose flow it is.
func (s *sharedWire) fromSender(event sock.Event) any {
	var w *flowWire
	switch e := event.(type) {
	case sock.Sent:
		s.mu.RLock()
		left := s.left[e.ID%uint32(len(s.left))]
		s.mu.RUnlock()
		if left.wire != nil {
			s.pass(left.wire.flow, traceStamp{left.id, e.Kernel})
		}
		return nil
	case sock.Packet:
		w = s.of(e.From.Addr().WithZone(""))
	case sock.ICMPError:
		w = s.quoted(s.queuedQuote(e))
	}
	if w != nil {
		if heard := w.packetWire.fromSender(event); heard != nil {
			s.pass(w.flow, heard)
		}
	}
	return nil
}

// fromRaw passes on the ICMP errors that come to this host to whose flow they are.
func (s *sharedWire) fromRaw(event sock.Event) any {
	p, ok := event.(sock.Packet)
	if !ok {
		return nil
	}
	e, err := icmp.Parse(p.Data, s.from.Addr().Is6())
	if err != nil {
		return nil
	}
	if w := s.quoted(e.Quote); w != nil {
		if heard := w.fromError(p, e); heard != nil {
			s.pass(w.flow, heard)
		}
	}
	return nil
}

// flowWire is one flow's part of a sharedWire.
type flowWire struct {
	packetWire
	shared *sharedWire
}

func (w *flowWire) send(id, ttl int, distinct bool) (before time.Time, err error) {
	s := w.shared
	s.mu.Lock()
	s.left[s.count%uint32(len(s.left))] = leftPacket{w, id} // before it leaves, as its stamp may be here before the call returns
	s.mu.Unlock()
	if before, err = w.packetWire.send(id, ttl, distinct); err == nil {
		s.count++
	}
	return before, err
}

func (w *flowWire) close() {
	s := w.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flows, w.flow.to.Addr())
	delete(s.tokens, w.flow.token)
}

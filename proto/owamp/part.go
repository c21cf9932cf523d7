package owamp

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// part is one session at one end of a connection, which sends or receives it.
type part struct {
	id      control.SID
	terms   Terms
	each    int // bytes of a packet
	socket  *sock.Socket
	send    *sender // or
	receive *receiver
	ended   chan struct{} // closed when it has ended, if it was started
}

// newPart is a session at one end, whose socket is open; the far end is known later.
func newPart(c *control.Connection, id control.SID, t Terms, s *sock.Socket, q control.Request, sends bool, clock endpoint.Clock) *part {
	p := &part{id: id, terms: t, each: control.PacketBytes(c.Mode, t.Padding), socket: s}
	sealer := control.NewSealer(c.Mode, c.Keys, id)
	if sends {
		p.send = &sender{id: id, terms: t, sealer: sealer, mode: c.Mode, socket: s, clock: clock}
	} else {
		p.receive = &receiver{ledger: newLedger(id, t, q), sealer: sealer, socket: s, clock: clock}
	}
	return p
}

// meet says where the far end of the session is.
func (p *part) meet(far netip.AddrPort) {
	if p.send != nil {
		p.send.to = far
	} else {
		p.receive.from = far
	}
}

// bytes is how much of test packets went over the socket.
func (p *part) bytes() int64 {
	if p.send != nil {
		p.send.mu.Lock()
		defer p.send.mu.Unlock()
		return p.send.bytes
	}
	return p.receive.ledger.bytes(p.each)
}

// parts are the sessions of a connection that are started together. One goroutine uses them.
type parts struct {
	all   []*part
	group sync.WaitGroup
	ended chan struct{} // closed when every session came to its end
}

// start begins all sessions, which were set by a clock.
func (p *parts) start(clock endpoint.Clock) {
	now, wall := time.Now(), clock.Read()
	p.ended = make(chan struct{})
	for _, one := range p.all {
		begin := now.Add(one.terms.lead(wall))
		one.ended = make(chan struct{})
		p.group.Go(func() {
			defer close(one.ended)
			if one.send != nil {
				one.send.run(begin)
				return
			}
			one.receive.failed = one.receive.run(begin)
		})
	}
	go func() { // ends with the sessions, which halt ends
		p.group.Wait()
		close(p.ended)
	}()
}

// halt ends all sessions, and waits until they have ended.
func (p *parts) halt() {
	for _, one := range p.all {
		one.socket.Interrupt()
	}
	if p.ended != nil {
		<-p.ended
	}
}

// haltSenders ends the sessions that this end sends, and waits until they have ended.
func (p *parts) haltSenders() {
	for _, one := range p.all {
		if one.send != nil {
			one.socket.Interrupt()
		}
	}
	for _, one := range p.all {
		if one.send != nil && one.ended != nil {
			<-one.ended
		}
	}
}

// awaitRest waits for packets that were under way when the far end said what it has sent, if any are missing.
func (p *parts) awaitRest(sent []stopped) {
	missing := slices.ContainsFunc(p.all, func(one *part) bool {
		return one.receive != nil && slices.ContainsFunc(sent, func(s stopped) bool { return s.id == one.id && !one.receive.ledger.whole(s) })
	})
	if !missing {
		return
	}
	select {
	case <-p.ended:
	case <-time.After(linger):
	}
}

// close closes the sockets of sessions that have ended.
func (p *parts) close() {
	for _, one := range p.all {
		one.socket.Close()
	}
	p.all, p.ended = nil, nil
}

// sent is what this end says of the sessions that it sent.
func (p *parts) sent() (all []stopped) {
	for _, one := range p.all {
		if one.send != nil {
			all = append(all, one.send.description())
		}
	}
	return all
}

// take takes what the far end says of the sessions that it sent. It has to know all of them.
func (p *parts) take(sent []stopped, now time.Time) error {
	for _, one := range p.all {
		if one.receive == nil {
			continue
		}
		at := slices.IndexFunc(sent, func(s stopped) bool { return s.id == one.id })
		if at < 0 {
			return fmt.Errorf("end of sessions: the far end says nothing of session %v, which it sent", one.id)
		}
		one.receive.ledger.stop(sent[at], now)
	}
	return nil
}

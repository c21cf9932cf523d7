package owamp

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// visit is a connection that a Server let in.
type visit struct {
	*endpoint.Visit
	server *Server
	parts  parts
	kept   []*kept // of parts that are received
}

// do does what a command asks for, of which the first block was read.
func (v *visit) do(first []byte) error {
	switch control.Command(first[0]) {
	case control.RequestSession:
		return v.request(first)
	case control.StartSessions:
		return v.run()
	case control.FetchSession:
		return v.fetch(first)
	}
	return errors.New("it is unknown, or out of place")
}

// close ends what is under way.
func (v *visit) close() {
	v.parts.halt()
	v.settle(true)
}

// settle lets go of sessions that have ended.
func (v *visit) settle(broken bool) {
	for _, p := range v.parts.all {
		v.Bytes += p.bytes()
	}
	v.parts.close()
	v.server.store.done(v.kept, broken, time.Now())
	v.kept = nil
}

// request takes a session in, or says why not.
func (v *visit) request(first []byte) error {
	q, slots, asked, err := receiveRequest(&v.Reader, first)
	if err != nil {
		return err
	}
	a := control.Accepted{Accept: control.Unsupported}
	if asked == nil {
		if a, err = v.admit(q, slots); err != nil {
			v.server.Log.Warn("OWAMP session failed", "client", v.Conn.RemoteAddr(), "error", err)
			a = control.Accepted{Accept: control.Failed}
		}
	}
	if a.Accept != control.OK {
		v.server.Log.Info("OWAMP session refused", "client", v.Conn.RemoteAddr(), "verdict", a.Accept)
	}
	return v.Send(a.Encode())
}

// admit opens a session that may be.
func (v *visit) admit(q control.Request, slots []Slot) (control.Accepted, error) {
	terms, supported := termsOf(q, slots)
	if accept := v.judge(q, supported); accept != control.OK {
		return control.Accepted{Accept: accept}, nil
	}
	if q.ServerReceives {
		q.SID = control.NewSID(v.Local, time.Now())
	}
	if accept := admit(v.Limits, terms, q.SID, v.Mode); accept != control.OK {
		return control.Accepted{Accept: accept}, nil
	}
	socket, port, err := openAt(v.Local, 0)
	if err != nil {
		return control.Accepted{}, err
	}
	p := newPart(v.Connection, q.SID, terms, socket, q, q.ServerSends, v.server.Clock)
	far := q.ReceiverPort
	if q.ServerReceives {
		far, p.receive.linger, p.receive.log = q.SenderPort, mostTime, v.server.Log // until the client ends the session
		k := &kept{ledger: p.receive.ledger, from: v.From, keyID: v.KeyID}
		if !v.server.store.reserve(k, terms.Packets, time.Now()) {
			socket.Close()
			return control.Accepted{Accept: control.Busy}, nil
		}
		v.kept = append(v.kept, k)
	}
	p.meet(netip.AddrPortFrom(v.From, far))
	v.parts.all = append(v.parts.all, p)
	return control.Accepted{Port: port, SID: q.SID}, nil
}

// judge says whether a session is one with this connection's client. Packets to anybody else this server does not send: who asks for them has
// not shown that they want them. By which address the client knows this server does not matter: there may be a translator before it.
func (v *visit) judge(q control.Request, supported bool) control.Accept {
	far, port := q.ReceiverAddress, q.ReceiverPort
	if q.ServerReceives {
		far, port = q.SenderAddress, q.SenderPort
	}
	switch {
	case !supported, q.ServerSends == q.ServerReceives, q.IPv6 != v.Local.Is6():
		return control.Unsupported
	case far.IsValid() && far != v.From, port == 0:
		return control.Refused
	case len(v.parts.all) >= v.Limits.Sessions:
		return control.Never
	case !v.TakePlace():
		return control.Busy
	}
	return control.OK
}

// run starts the sessions, and ends them when the client says so, or has not said so in time.
func (v *visit) run() error {
	if err := v.Verify(); err != nil {
		return err
	}
	if len(v.parts.all) == 0 {
		return v.Send(control.EncodeStartAck(control.Refused))
	}
	v.Tests++
	if err := v.Send(control.EncodeStartAck(control.OK)); err != nil {
		return err
	}
	v.parts.start(v.server.Clock)
	_ = v.Conn.SetDeadline(time.Now().Add(v.Limits.Longest + mostLead + v.Idle))
	first, said, err := v.await()
	if err != nil {
		return fmt.Errorf("await end of sessions: %w", err)
	}
	now := time.Now()
	v.Arm()
	sent, _, err := receiveStop(&v.Reader, first, len(v.parts.all))
	if err != nil {
		return err
	}
	v.parts.haltSenders()
	v.parts.awaitRest(sent)
	v.parts.halt()
	if err := v.parts.take(sent, now); err != nil {
		return err
	}
	if !said {
		if err := sendStop(&v.Writer, control.OK, v.parts.sent()); err != nil {
			return err
		}
	}
	v.settle(false)
	return nil
}

// stopGrace is how much later than its sessions a server ends a test, which it leaves to the client where that does: a packet that comes
// when a test ends may be one that the receiver has to leave out.
const stopGrace = time.Second

// await waits for the client's end of the sessions, of which it reads the first block. Where the server sends them all and none is left, it
// says so first (RFC 4656 section 3.8).
func (v *visit) await() (first []byte, said bool, err error) {
	first = make([]byte, control.StartStopBytes)
	came := make(chan error, 1)
	go func() { came <- v.Read(first) }() // ends with the message, or with the connection, which has a deadline
	var over <-chan time.Time
	for ended := v.parts.ended; ; {
		select {
		case err := <-came:
			return first, said, err
		case <-ended: // never where the server receives any: it does so until the client ends them
			ended, over = nil, time.After(stopGrace)
		case <-over:
			over, said = nil, true
			v.Arm()
			if err := sendStop(&v.Writer, control.OK, v.parts.sent()); err != nil {
				v.Conn.Close()
				<-came
				return first, said, err
			}
		}
	}
}

// fetch sends the records of a session.
func (v *visit) fetch(first []byte) error {
	b := make([]byte, fetchBytes)
	copy(b, first)
	if err := v.Receive(b[control.BlockBytes:]); err != nil {
		return err
	}
	f := decodeFetch(b)
	k := v.server.store.find(f.id, v.From, v.KeyID)
	if k == nil {
		return v.Send(fetchAck{accept: control.Refused}.encode())
	}
	return sendSession(&v.Writer, k.ledger.request, k.ledger.snapshot(f.first, f.last), v.Arm)
}

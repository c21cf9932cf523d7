package owamp

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// request asks for a session, which this end sends or receives.
func (t *test) request(terms Terms, sends bool, r *Report) (*part, error) {
	socket, port, err := openAt(r.Local.Addr(), 0)
	if err != nil {
		return nil, err
	}
	q := terms.request()
	q.IPv6, q.ServerSends, q.ServerReceives = r.Local.Addr().Is6(), !sends, sends
	if sends {
		q.SenderAddress, q.SenderPort, q.ReceiverAddress = r.Local.Addr(), port, r.Remote.Addr()
	} else {
		q.ReceiverAddress, q.ReceiverPort, q.SenderAddress = r.Local.Addr(), port, r.Remote.Addr()
		q.SID = control.NewSID(r.Local.Addr(), time.Now())
	}
	b := make([]byte, control.AcceptedBytes)
	t.Arm()
	var a control.Accepted
	if err = sendRequest(&t.Writer, q, terms.Slots); err == nil {
		if err = t.Receive(b); err == nil {
			if a, err = control.DecodeAccepted(b); err == nil {
				err = a.Accept.Check("session")
			}
		}
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	if sends {
		q.SID = a.SID
	}
	made := newPart(t.Connection, q.SID, terms, socket, q, sends, t.Clock)
	if sends {
		made.send.stamps = true
	} else {
		made.receive.linger = linger
	}
	made.meet(netip.AddrPortFrom(r.Remote.Addr(), a.Port))
	t.parts.all = append(t.parts.all, made)
	return made, nil
}

// start has the server start all sessions, and starts them here.
func (t *test) start() error {
	t.Arm()
	b := make([]byte, control.StartStopBytes)
	err := t.Send(control.EncodeStart())
	if err == nil {
		err = t.Receive(b)
	}
	if err == nil {
		err = control.Accept(b[0]).Check("start of sessions")
	}
	if err != nil {
		return fmt.Errorf("start sessions: %w", err)
	}
	t.parts.start(t.Clock)
	return nil
}

// heard is what the far end says when sessions end.
type heard struct {
	sent []stopped
	err  error
}

// await waits until the sessions have ended here, or the server ends them, or something else does; it then ends them everywhere.
func (t *test) await(stop <-chan struct{}) error {
	_ = t.Conn.SetDeadline(time.Time{})
	said := make(chan heard, 1)
	go func() { // ends with the message, or with the connection
		first := make([]byte, control.StartStopBytes)
		h := heard{err: t.Read(first)}
		if h.err == nil {
			h.sent, _, h.err = receiveStop(&t.Reader, first, len(t.parts.all))
		}
		said <- h
	}()
	var h heard
	came := false
	select {
	case <-t.parts.ended:
	case <-stop:
	case <-t.ctx.Done():
	case h = <-said:
		came = true
	}
	now := time.Now()
	defer t.parts.halt()
	t.parts.haltSenders()
	t.Arm()
	err := h.err
	if err == nil {
		err = sendStop(&t.Writer, control.OK, t.parts.sent())
	}
	if err != nil {
		t.Conn.Close()
	}
	if !came {
		h = <-said
	}
	if err = firstOf(err, h.err); err == nil {
		t.parts.awaitRest(h.sent)
		t.parts.halt()
		err = t.parts.take(h.sent, now)
	}
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return nil
}

func (t *test) fetch(f fetch) (*Session, error) {
	t.Arm()
	if err := t.Send(f.encode()); err != nil {
		return nil, fmt.Errorf("fetch session: %w", err)
	}
	s, err := receiveSession(&t.Reader, 2*MostPackets, t.Arm)
	if err != nil {
		return nil, fmt.Errorf("fetch session: %w", err)
	}
	return &s, nil
}

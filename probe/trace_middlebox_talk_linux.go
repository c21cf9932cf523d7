package probe

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// Times of one connection that this program speaks TCP on by itself.
const (
	talkAgain = time.Second // a SYN or a request is sent again after so long (RFC 6298, 2.1)
	talkTries = 3
)

var errTalkSilent = errors.New("no answer in time")

// talkTCP opens a connection whose SYN is the flow's, sends a request that fits into one segment, and returns the line that comes back. It speaks no more of TCP than
// that takes: one segment there, those of one line back in their order, and a reset at the end.
//
//	SYN ->   <- SYN ACK   ACK, request ->   <- answer   ACK ->   RST ->
func talkTCP(ctx context.Context, flow *traceFlow, request []byte) (line []byte, err error) {
	local := flow.from.Addr()
	s, port, err := sock.OpenTCP(netip.AddrPortFrom(local, 0))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, s.Interrupt)()
	conn, err := s.SyscallConn()
	if err == nil {
		err = cmp.Or(sock.SetDontFragment(conn), sock.SetDSCP(conn, flow.crafted.dscp), sock.SetECN(conn, ecnCapable), s.SetTTL(farTTL))
	}
	if err != nil {
		return nil, err
	}
	flow.from = netip.AddrPortFrom(local, port)
	t := &tcpTalk{talk: talk{own: port, far: flow.to.Port(), next: flow.base() + 1}, flow: flow, socket: s, request: request}
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	defer t.send(flagRST|flagACK, nil)
	return t.exchange(ctx)
}

// tcpTalk is a connection that talkTCP speaks TCP on.
type tcpTalk struct {
	talk
	flow    *traceFlow
	socket  *sock.Socket
	request []byte
}

// open makes the connection.
func (t *tcpTalk) open(ctx context.Context) error {
	for range talkTries {
		if _, _, err := t.socket.Send(t.flow.request(0), netip.AddrPortFrom(t.flow.target, t.flow.to.Port())); err != nil {
			return err
		}
		for until := time.Now().Add(talkAgain); ; {
			p, err := t.receive(ctx, until)
			if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
				break
			}
			if err != nil {
				return err
			}
			if open, err := t.opened(p); open || err != nil {
				return err
			}
		}
	}
	return errTalkSilent
}

// exchange sends the request, and gathers the answer.
func (t *tcpTalk) exchange(ctx context.Context) (line []byte, err error) {
	for range talkTries {
		if err := t.send(flagACK|flagPSH, t.request); err != nil {
			return nil, err
		}
		for until := time.Now().Add(talkAgain); ; {
			p, err := t.receive(ctx, until)
			if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
				break
			}
			if err != nil {
				return nil, err
			}
			whole, data, err := t.take(p)
			if whole || err != nil {
				return t.line(), err
			}
			if data {
				_ = t.sendAt(t.next+uint32(len(t.request)), flagACK, nil) // one that is lost is made up for by the next
			}
		}
	}
	return nil, errTalkSilent
}

func (t *tcpTalk) send(flags byte, data []byte) error {
	sequence := t.next
	if data == nil {
		sequence += uint32(len(t.request))
	}
	return t.sendAt(sequence, flags, data)
}

func (t *tcpTalk) sendAt(sequence uint32, flags byte, data []byte) error {
	s := segment{from: t.flow.from.Port(), to: t.flow.to.Port(), seq: sequence, ack: t.theirs, flags: flags}
	var options []byte
	if t.stamped {
		options = append([]byte{1, 1}, timeStamps(t.flow.base()+1, t.echo)...) // behind two that fill the word
	}
	packet := s.marshalWith(options, data, t.flow.from.Addr(), t.flow.to.Addr())
	_, _, err := t.socket.Send(packet, netip.AddrPortFrom(t.flow.target, t.flow.to.Port()))
	return err
}

// receive is the next packet of the target's, which holds until the next call.
func (t *tcpTalk) receive(ctx context.Context, until time.Time) ([]byte, error) {
	for ctx.Err() == nil {
		event, err := t.socket.Receive(until)
		if err != nil {
			return nil, err
		}
		if p, is := event.(sock.Packet); is && p.From.Addr().WithZone("") == t.flow.to.Addr() {
			return p.Data, nil
		}
	}
	return nil, context.Cause(ctx)
}

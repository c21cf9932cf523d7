package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/proto/changed"
	"github.com/pathwise-net/pathwise/sock"
)

// Times and sizes of one connection that this program speaks TCP on by itself.
const (
	talkAgain  = time.Second // a SYN or a request is sent again after so long (RFC 6298, 2.1)
	talkTries  = 3
	mostAnswer = 4096 // bytes
)

var (
	errTalkRefused = errors.New("connection refused")
	errTalkSilent  = errors.New("no answer in time")
)

// talkTCP opens a connection whose SYN is the flow's, sends a request that fits into one segment, and returns the line that comes back. It speaks no more of TCP than
// that takes: one segment there, those of one line back in their order, and a reset at the end.
//
//	SYN ->   <- SYN ACK   ACK, request ->   <- answer   ACK ->   RST ->
func talkTCP(ctx context.Context, flow *traceFlow, request []byte) (line []byte, err error) {
	local := flow.from.Addr()
	s, port, err := sock.OpenTCP(local)
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
	t := &tcpTalk{flow: flow, socket: s, request: request, next: flow.base() + 1}
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	defer t.send(flagRST|flagACK, nil)
	return t.exchange(ctx)
}

// tcpTalk is a connection that talkTCP speaks TCP on.
type tcpTalk struct {
	flow    *traceFlow
	socket  *sock.Socket
	request []byte
	next    uint32 // sequence number of the request
	theirs  uint32 // the next that is expected
	stamped bool   // both ends have time stamps
	echo    uint32 // the far end's last
}

// open makes the connection.
func (t *tcpTalk) open(ctx context.Context) error {
	for range talkTries {
		if _, _, err := t.socket.Send(t.flow.request(0), netip.AddrPortFrom(t.flow.target, t.flow.to.Port())); err != nil {
			return err
		}
		for until := time.Now().Add(talkAgain); ; {
			got, _, err := t.receive(ctx, until)
			if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
				break
			}
			switch {
			case err != nil:
				return err
			case got.flags&flagRST != 0 && got.ack == t.next:
				return errTalkRefused
			case got.flags&flagSYN != 0 && got.ack == t.next:
				t.theirs = got.seq + 1
				return nil
			}
		}
	}
	return errTalkSilent
}

// exchange sends the request, and gathers the answer.
func (t *tcpTalk) exchange(ctx context.Context) (answer []byte, err error) {
	for range talkTries {
		if err := t.send(flagACK|flagPSH, t.request); err != nil {
			return nil, err
		}
		for until := time.Now().Add(talkAgain); ; {
			got, data, err := t.receive(ctx, until)
			if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
				break
			}
			switch {
			case err != nil:
				return nil, err
			case got.flags&flagRST != 0:
				return nil, errTalkRefused
			case got.seq == t.theirs && len(data) > 0:
				t.theirs += uint32(len(data))
				answer = append(answer, data...)
			}
			if end := bytes.IndexByte(answer, '\n'); end >= 0 {
				return answer[:end+1], nil
			}
			if got.flags&flagFIN != 0 || len(answer) > mostAnswer {
				return answer, nil
			}
			if len(data) > 0 {
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

// receive is the next segment of the connection, and its data, which holds until the next call.
func (t *tcpTalk) receive(ctx context.Context, until time.Time) (got segment, data []byte, err error) {
	for ctx.Err() == nil {
		event, err := t.socket.Receive(until)
		if err != nil {
			return got, nil, err
		}
		p, is := event.(sock.Packet)
		if !is || p.From.Addr().WithZone("") != t.flow.to.Addr() {
			continue
		}
		got, _ := parseSegment(p.Data)
		data, whole := segmentData(p.Data)
		if !whole || got.from != t.flow.to.Port() || got.to != t.flow.from.Port() {
			continue
		}
		if stamp, ok := changed.TimeStamp(p.Data); ok {
			t.stamped, t.echo = true, stamp
		}
		return got, data, nil
	}
	return got, nil, context.Cause(ctx)
}

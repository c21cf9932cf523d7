package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// mtuWire sends packets of chosen sizes, which no router may cut, and hears what comes of them. One goroutine uses it.
type mtuWire interface {
	// least is the smallest IP packet that it sends.
	least() int
	// send sends the packet of an index, of so many bytes from its IP header on, and tells the time just before. errMTUOwn: this host sends none so large.
	send(index, size, ttl int) (before time.Time, err error)
	// hear waits until a moment, at which the error is os.ErrDeadlineExceeded, for something of the packets below sent. Something else that came is not heard.
	hear(until time.Time, sent int) (mtuHeard, bool, error)
	interrupt()
	close()
}

// errMTUOwn says that a packet is larger than this host's interface takes.
var errMTUOwn = errors.New("larger than this host sends")

// mtuHeard is what came back of a packet.
type mtuHeard struct {
	index  int
	passed bool       // the target got it
	from   netip.Addr // of an error, who said so
	reason sock.Reason
	mtu    int  // of an error that says so
	ours   bool // the error quotes what nobody off the path can know
}

// mtuPackets are the packets of one protocol.
type mtuPackets interface {
	least() int
	// request is the packet of an index as its socket takes it, of so many bytes from its IP header on.
	request(index, size int) []byte
	// answered is which request a packet answers.
	answered(packet []byte, from netip.Addr, sent int) (index int, ok bool)
	// quoted is which request an ICMP error quotes, and whether by what nobody off the path can know.
	quoted(packet []byte, sent int) (index int, ours, ok bool)
}

// mtuSocket is a mtuWire of a socket of single packets.
type mtuSocket struct {
	*sock.Socket
	mtuPackets
	target netip.AddrPort
	closed bool // nobody listens at the target's port, so that to hear so shows that a packet came there
}

// newMTUSocket sets a socket up so that nothing cuts its packets, and closes it where that fails.
func newMTUSocket(s *sock.Socket, packets mtuPackets, target netip.AddrPort) (mtuWire, error) {
	conn, err := s.SyscallConn()
	if err == nil {
		err = sock.SetDontFragment(conn)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return &mtuSocket{Socket: s, mtuPackets: packets, target: target}, nil
}

func (w *mtuSocket) send(index, size, ttl int) (time.Time, error) {
	if err := w.SetTTL(ttl); err != nil {
		return time.Time{}, err
	}
	_, before, err := w.Send(w.request(index, size), w.target)
	if errors.Is(err, unix.EMSGSIZE) {
		return before, errMTUOwn
	}
	return before, err
}

func (w *mtuSocket) hear(until time.Time, sent int) (mtuHeard, bool, error) {
	for {
		event, err := w.Receive(until)
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(until) {
			return mtuHeard{}, false, context.Canceled // interrupted
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return mtuHeard{}, false, nil
		} else if err != nil {
			return mtuHeard{}, false, fmt.Errorf("receive: %w", err)
		}
		switch e := event.(type) {
		case sock.Packet:
			if index, ok := w.answered(e.Data, e.From.Addr(), sent); ok {
				return mtuHeard{index: index, passed: true, ours: true}, true, nil
			}
		case sock.ICMPError:
			if index, ours, ok := w.quoted(e.Quoted, sent); ok {
				if w.closed && ours && e.Offender == w.target.Addr() && e.Reason() == sock.PortUnreachable {
					return mtuHeard{index: index, passed: true, ours: true}, true, nil
				}
				return mtuHeard{index: index, from: e.Offender, reason: e.Reason(), mtu: e.MTU, ours: ours}, true, nil
			}
		}
	}
}

func (w *mtuSocket) interrupt() { w.Interrupt() }
func (w *mtuSocket) close()     { w.Close() }

// mtuEchoes are ICMP echoes.
type mtuEchoes struct {
	*echoPackets
	header int // bytes of the IP header
}

// openMTUEcho is a mtuWire by ICMP echo.
func openMTUEcho(_ context.Context, w way) (mtuWire, error) {
	s, err := sock.OpenEcho(w.to.Is6())
	if err != nil {
		return nil, err
	}
	random := Ping{Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	return newMTUSocket(s, &mtuEchoes{newEchoPackets(random, s, w.to), ipHeader(w.to)}, netip.AddrPortFrom(w.to, 0))
}

func (e *mtuEchoes) least() int { return e.header + icmpHeader + indexedSize }

func (e *mtuEchoes) request(index, size int) []byte {
	return e.echoPackets.request(index, size-e.header-icmpHeader)
}

func (e *mtuEchoes) quoted(packet []byte, sent int) (index int, ours, ok bool) {
	index, ok = e.echoPackets.quoted(packet, sent)
	if request, is := parseEcho(packet, e.ipv6); is {
		_, ours = readIndex(request.payload, e.token)
	}
	return index, ours, ok
}

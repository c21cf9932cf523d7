package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

// talk is the connection on which both ends tell each other what they do.
type talk struct {
	*jsonlines.Conn
	local, peer netip.AddrPort
}

// begin gives a connection the time that a whole test may take.
func begin(conn net.Conn, longest time.Duration) *talk {
	return &talk{Conn: jsonlines.Begin(conn, longest, mostLine), local: addrPort(conn.LocalAddr()), peer: addrPort(conn.RemoteAddr())}
}

// ErrNotHere is of an address where something answers that does not speak this protocol.
var ErrNotHere = errors.New("what answers there does not tell: it is no `pathwise respond`, or an older one")

// Ask asks the responder at the other end of a connection whether fresh ports are reached, both ways, and says what both ends saw. It takes Longest at
// the most, and leaves the connection open. Errors, for errors.Is: ErrNotHere, those of package endpoint.
func Ask(ctx context.Context, conn net.Conn) (measure.Reach, error) {
	return askWithin(ctx, conn, Longest)
}

func askWithin(ctx context.Context, conn net.Conn, longest time.Duration) (measure.Reach, error) {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	r, err := begin(conn, longest).ask(ctx)
	if err != nil {
		return r, fmt.Errorf("ask for fresh ports: %w", endpoint.Explain(ctx, err))
	}
	return r, nil
}

func (t *talk) ask(ctx context.Context) (none measure.Reach, err error) {
	own, err := openFresh(measure.ReachHere, t.local.Addr())
	if err != nil {
		return none, err
	}
	defer own.close()
	here := own.ports()
	if err := t.Say(hello{Schema: Schema, TCP: here.tcp, UDP: here.udp}); err != nil {
		return none, err
	}
	line, err := t.HearAnswer()
	if errors.Is(err, jsonlines.ErrOther) {
		return none, ErrNotHere
	}
	if err != nil {
		return none, err
	}
	o, err := readOffer(line)
	if err != nil {
		return none, err
	}
	own.answer(o.Cookie, t.peer.Addr())
	if err := t.Say(ready{Cookie: o.Cookie}); err != nil {
		return none, err
	}
	there := ports{o.TCP, o.UDP}
	mine := report{Sent: try(ctx, o.Cookie, measure.ReachThere, t.local.Addr(), t.peer.Addr(), there)}
	if err := t.Say(ready{Cookie: o.Cookie, Done: true}); err != nil {
		return none, err
	}
	if line, err = t.Hear(); err != nil {
		return none, err
	}
	theirs, err := readReport(line)
	if err != nil {
		return none, err
	}
	mine.Came = own.close()
	seen, _ := netip.ParseAddrPort(o.Seen) // which readOffer has looked at
	return waysOf(mine, theirs, here, there, t.local, seen, t.peer.Addr()), nil
}

package retrace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

// talk is the connection on which both ends tell each other what they do.
type talk struct {
	*jsonlines.Conn
	local, peer netip.AddrPort
}

// begin gives a connection the time that a whole test may take.
func begin(conn net.Conn, longest time.Duration, most int) *talk {
	return &talk{Conn: jsonlines.Begin(conn, longest, most), local: endpoint.AddrPort(conn.LocalAddr()), peer: endpoint.AddrPort(conn.RemoteAddr())}
}

// ErrNotHere is of an address where something answers that does not speak this protocol.
var ErrNotHere = errors.New("what answers there does not trace back: it is no `pathwise respond`, or an older one, which has to be brought up to date")

// Back is a route back, and between which addresses it leads.
type Back struct {
	Route
	Local netip.AddrPort // the caller's end of the connection to the responder
	Seen  netip.AddrPort // the same end, as the responder saw it
	Far   netip.Addr     // the responder's own address, which is not the one that was asked behind a translator
}

// Request has the responder at the other end of a connection trace the route back. It takes Longest at the most, and leaves the connection open.
// Errors, for errors.Is: ErrNotHere, those of package endpoint.
func Request(ctx context.Context, conn net.Conn, ask Ask) (Back, error) {
	return requestWithin(ctx, conn, ask, Longest)
}

func requestWithin(ctx context.Context, conn net.Conn, ask Ask, longest time.Duration) (Back, error) {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	b, err := begin(conn, longest, mostRoute).request(ask.Within())
	if err != nil {
		return b, fmt.Errorf("ask for the route back: %w", endpoint.Explain(ctx, err))
	}
	return b, nil
}

func (t *talk) request(ask Ask) (none Back, err error) {
	if err := t.Say(ask.hello()); err != nil {
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
	if errors.Is(err, errOther) {
		return none, ErrNotHere
	}
	if err != nil {
		return none, err
	}
	if err := t.Say(ready{Cookie: o.Cookie}); err != nil {
		return none, err
	}
	if line, err = t.Hear(); err != nil {
		return none, err
	}
	b := Back{Local: t.local}
	b.Seen, _ = netip.ParseAddrPort(o.Seen) // which readOffer has looked at, as it has at the next
	b.Far, _ = netip.ParseAddr(o.Local)
	b.Route, err = readReport(line)
	return b, err
}

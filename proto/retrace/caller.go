package retrace

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// talk is the connection on which both ends tell each other what they do.
type talk struct {
	net.Conn
	lines       *bufio.Reader
	local, peer netip.AddrPort
}

// begin gives a connection the time that a whole test may take.
func begin(conn net.Conn, longest time.Duration, mostLine int) *talk {
	_ = conn.SetDeadline(time.Now().Add(longest)) // fails only on a closed connection, as what follows does
	return &talk{Conn: conn, lines: bufio.NewReaderSize(conn, mostLine), local: endpoint.AddrPort(conn.LocalAddr()), peer: endpoint.AddrPort(conn.RemoteAddr())}
}

func (t *talk) say(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = t.Write(append(text, '\n'))
	return err
}

// hear reads a line.
func (t *talk) hear() ([]byte, error) {
	line, err := t.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errors.New("a message that is too long")
	}
	return line, err
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
	if err := t.say(ask.hello()); err != nil {
		return none, err
	}
	line, err := t.hear()
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, os.ErrDeadlineExceeded) || err == nil && line[0] != '{' {
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
	if err := t.say(ready{Cookie: o.Cookie}); err != nil {
		return none, err
	}
	if line, err = t.hear(); err != nil {
		return none, err
	}
	b := Back{Local: t.local}
	b.Seen, _ = netip.ParseAddrPort(o.Seen) // which readOffer has looked at, as it has at the next
	b.Far, _ = netip.ParseAddr(o.Local)
	b.Route, err = readReport(line)
	return b, err
}

package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/retrace"
	"github.com/pathwise-net/pathwise/sock"
)

const (
	// backSegment is what the caller of a responder has the far end put into a segment at the most: its answer is to come over a way back on which larger packets vanish. It is
	// what any IPv4 host takes (RFC 9293, 3.7.1), and fits into the least MTU of IPv6.
	backSegment = 536
	// backTimeout is the longest that a search on the way back may take, with the connection that asks for it.
	backTimeout = 8 * time.Second
)

// dialResponder opens a connection to `pathwise respond` over which small segments alone come back.
func dialResponder(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	dialer := net.Dialer{Timeout: openingTimeout, Control: func(_, _ string, c syscall.RawConn) error {
		return sock.SetInt(c, unix.IPPROTO_TCP, unix.TCP_MAXSEG, backSegment)
	}}
	dialer.SetMultipathTCP(false)
	conn, err := dialer.DialContext(ctx, "tcp", at.String())
	if err != nil {
		return nil, fmt.Errorf("ask `pathwise respond` at %v for the route back: %w", at, endpoint.ExplainOpening(ctx, err))
	}
	return conn, nil
}

// narrowingSeeker is what seeks where packets vanish on the way back: see MTU for both.
type narrowingSeeker struct {
	port   int
	secret string
}

// ask asks the far end where packets of more than some bytes vanish on the way back; nil: they came to this host.
func (s narrowingSeeker) ask(ctx context.Context, target netip.Addr, bytes int, timeout time.Duration) (*measure.Narrowing, error) {
	ctx, cancel := context.WithTimeout(ctx, backTimeout)
	defer cancel()
	conn, err := dialResponder(ctx, netip.AddrPortFrom(target, uint16(cmp.Or(s.port, traceResponderPort))))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	found, err := retrace.Request(ctx, conn, retrace.Ask{Protocol: retrace.ICMP, MaxTTL: mtuHops, Queries: 1, Timeout: timeout, Interval: mtuGap, Size: bytes, Secret: s.secret})
	if err != nil {
		return nil, err
	}
	return toldNarrowing(found.Route, bytes)
}

// toldNarrowing is what a far end tells that was asked about packets of more than some bytes; nil: they came.
func toldNarrowing(told retrace.Route, bytes int) (*measure.Narrowing, error) {
	switch {
	case len(told.Hops) > 0:
		return nil, errors.New("`pathwise respond` there is an older one, which has to be brought up to date")
	case len(told.Whole.Narrowings) == 0:
		return nil, nil
	}
	n := told.Whole.Narrowings[0]
	n.Bytes = bytes // whatever it says
	return &n, nil
}

// answerNarrowing finds where packets of more than ask.Size bytes vanish on the way to who asked. It sends echoes, or, where it may not, datagrams to a port on which nobody listens.
func answerNarrowing(ctx context.Context, to netip.Addr, ask retrace.Ask) (found retrace.Route, err error) {
	from, err := sock.Source(to)
	if err != nil {
		return found, err
	}
	w := way{to: to, from: from}
	wire, err := openMTUEcho(ctx, w)
	found.Whole.Answers = traceICMP
	if isPermission(err) {
		found.Whole.Answers = traceUDP
		if wire, err = openMTUStamp(tracePort)(ctx, w); err == nil {
			wire.(*mtuSocket).closed = true
		}
	}
	if err != nil {
		return found, err
	}
	defer wire.close()
	defer context.AfterFunc(ctx, wire.interrupt)()
	run := &mtuRun{wire: wire, wait: ask.Timeout, timeout: ask.Timeout}
	n, err := run.bisect(ask.Size, from)
	if ctx.Err() != nil { // whatever call it made fail
		err = context.Cause(ctx)
	}
	if n != nil {
		found.Whole.Narrowings = []measure.Narrowing{*n}
	}
	run.countIn(&found.Whole)
	return found, err
}

// bisect finds where packets of more than some bytes, which come to the end, are not passed on; nil: they come there. It sends no more than retrace.MostSized of them: what hops answer
// small ones is found first, and the last of those that a large one comes to by halves.
func (r *mtuRun) bisect(passes int, from netip.Addr) (*measure.Narrowing, error) {
	least := r.wire.least() // without root more than retrace.LeastSize
	if passes < least {
		return nil, fmt.Errorf("packets of %d bytes: this host may send none below %d", passes, least)
	}
	ttls, err := r.reached(least)
	if err != nil {
		return nil, err
	}
	var answer []int // TTLs
	for i, h := range ttls {
		if h.small.IsValid() || h.target {
			answer = append(answer, i+1)
		}
	}
	low, high := 0, len(answer) // those below low get it; from high on none does
	for at := high - 1; low < high; at = (low + high) / 2 {
		ttl, begin := answer[at], len(r.sent)
		err := r.ask(passes+1, ttls[:ttl], ttl-1, func(mtuHop) bool { return true })
		if errors.Is(err, errMTUOwn) {
			return &measure.Narrowing{Before: 1, Bytes: passes, Refused: true}, nil
		} else if err != nil {
			return nil, err
		}
		for _, p := range r.sent[begin:] {
			if p.heard != nil && p.heard.passed {
				return nil, nil
			}
		}
		switch h := ttls[ttl-1]; {
		case h.refused.IsValid():
			low = high
		case h.large.IsValid():
			low = at + 1
		default:
			high = at
		}
	}
	n := narrowingOf(mtuNarrowing(from, ttls), passes)
	return &n, nil
}

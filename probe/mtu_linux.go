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

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Do finds the path MTU and returns a Result of kind "mtu". Samples.Hops are those that a packet one byte larger passes, the last of
// them with the Reply "packet too big" where it said so, or "no answer"; there are none where this host itself sends no larger ones.
// A target that answers nothing is no error: there is no path_mtu_bytes then.
func (p MTU) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "mtu", p.Target, p.measure)
}

func (p MTU) measure(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	setDefault(&p.Timeout, mtuTimeout)
	result.Parameters = recorded(mtuFields(), &p)
	ways, err := waysTo(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	return tryWays(result, ways, func(w way, last bool) error {
		err := p.measureWay(ctx, w.to, result)
		if !last && isUnreachable(err) {
			return &unreachableError{err.Error()}
		}
		if err != nil {
			return fmt.Errorf("find MTU to %s: %w", p.Target, err)
		}
		return nil
	})
}

func (p MTU) measureWay(ctx context.Context, to netip.Addr, result *measure.Result) error {
	search, err := newMTUSearch(to)
	if err != nil {
		return err
	}
	socket, err := sock.OpenEcho(to.Is6())
	if err != nil {
		return err
	}
	defer socket.Close()
	defer context.AfterFunc(ctx, socket.Interrupt)()
	conn, err := socket.SyscallConn()
	if err == nil {
		err = sock.SetDontFragment(conn)
	}
	if err != nil {
		return err
	}
	random := Ping{Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	run := &mtuRun{socket: socket, target: to, packets: newEchoPackets(random, socket, to), wait: p.Timeout, timeout: p.Timeout}
	err = run.search(search)
	if err == nil && search.passes > 0 && search.fails > 0 && !run.own {
		result.Samples.Hops, err = run.narrowing(search.passes, search.fails)
	}
	result.Metrics[measure.SentPackets], result.Metrics[measure.ReceivedPackets] = float64(run.sent), float64(run.answered)
	if search.passes > 0 && err == nil {
		result.Metrics[measure.PathMTU] = float64(search.passes)
	} else if err == nil {
		result.Note("the target answers no echo, so no size is known to come through")
	}
	if ctx.Err() != nil { // whatever call it made fail
		err = context.Cause(ctx)
	}
	return err
}

// newMTUSearch begins with what the interface takes. Where the kernel has learnt of a smaller MTU that is tried, and all between.
func newMTUSearch(to netip.Addr) (*mtuSearch, error) {
	most, learnt, err := sock.RouteMTU(to)
	s := &mtuSearch{least: 68, most: most} // RFC 791
	if sock.FamilyOf(to) == sock.IPv6 {
		s.least = 1280 // RFC 8200 section 5
	}
	if learnt {
		s.told, s.most = most, mostPacket
	}
	s.most = min(s.most, mostPacket)
	return s, err
}

// mtuTTL is what packets may live for, which are to come to the target: what Linux gives them.
const mtuTTL = 64

// mostPacket is the largest packet that IP has a length for, in bytes.
const mostPacket = 65535

// mtuRun is one search under way. One goroutine sends and receives, so nothing in it is shared.
type mtuRun struct {
	socket  *sock.Socket
	target  netip.Addr
	packets *echoPackets

	timeout, wait  time.Duration
	sent, answered int
	last           time.Time // when the last packet left
	own            bool      // the smallest size that fails is one that this host does not send
}

// mtuAnswer is what came of packets of one size. The zero value: nothing came.
type mtuAnswer struct {
	passed bool       // the target answered
	from   netip.Addr // of an error, who said so
	reason sock.Reason
	mtu    int  // of an error that says so
	own    bool // this host did not send it
}

func (r *mtuRun) search(s *mtuSearch) error {
	for {
		size, more := s.next()
		if !more {
			return nil
		}
		a, err := r.try(size, mtuTTL)
		if err != nil {
			return err
		}
		if !a.passed && (s.fails == 0 || size < s.fails) {
			r.own = a.own
		}
		s.tried(size, a.passed)
		if a.mtu > 0 {
			s.told = a.mtu
		}
	}
}

// narrowing returns the hops that a packet passes which is too large for the path.
func (r *mtuRun) narrowing(passes, fails int) ([]measure.Hop, error) {
	var hops []measure.Hop
	silent := 0
	for ttl := 1; ttl <= mtuHops && silent < mtuSilent; ttl++ {
		a, err := r.try(fails, ttl)
		if err != nil {
			return nil, err
		}
		switch {
		case a.reason == sock.TooBig:
			return refusedBy(hops, a.from), nil
		case a.from.IsValid():
			hops, silent = append(hops, measure.Hop{TTL: ttl, Addresses: []string{a.from.String()}, RTTSeconds: []*float64{}}), 0
			continue
		}
		small, err := r.try(passes, ttl)
		if err != nil {
			return nil, err
		}
		if small.passed || small.from.IsValid() { // it is the size that does not come here
			break
		}
		hops, silent = append(hops, measure.Hop{TTL: ttl, Addresses: []string{}, RTTSeconds: []*float64{}}), silent+1
	}
	hops = hops[:len(hops)-silent]
	if len(hops) > 0 {
		hops[len(hops)-1].Reply = mtuSilence
	}
	return hops, nil
}

// refusedBy notes who said that a packet is too big: the last hop that it came to.
func refusedBy(hops []measure.Hop, who netip.Addr) []measure.Hop {
	if len(hops) == 0 {
		hops = []measure.Hop{{TTL: 1, RTTSeconds: []*float64{}}}
	}
	last := &hops[len(hops)-1]
	last.Addresses, last.Reply = []string{who.String()}, mtuRefused
	return hops
}

// try sends packets of a size until something is heard of one, and waits for that.
func (r *mtuRun) try(size, ttl int) (mtuAnswer, error) {
	if err := r.socket.SetTTL(ttl); err != nil {
		return mtuAnswer{}, err
	}
	first := r.sent
	for n := range mtuTries {
		if a, err := r.listen(first, r.last.Add(mtuGap)); a != (mtuAnswer{}) || err != nil {
			return a, err
		}
		_, before, err := r.socket.Send(r.packets.request(r.sent, size-ipHeader(r.target)-icmpHeader), netip.AddrPortFrom(r.target, 0))
		if errors.Is(err, unix.EMSGSIZE) {
			return mtuAnswer{own: true}, nil
		} else if err != nil {
			return mtuAnswer{}, err
		}
		r.last = before
		r.sent++
		if n == mtuTries-1 {
			return r.listen(first, before.Add(r.wait))
		}
	}
	return mtuAnswer{}, nil
}

// listen waits until a moment for what is heard of a packet from the first on.
func (r *mtuRun) listen(first int, until time.Time) (mtuAnswer, error) {
	for {
		event, err := r.socket.Receive(until)
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(until) {
			return mtuAnswer{}, context.Canceled // interrupted
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return mtuAnswer{}, nil
		} else if err != nil {
			return mtuAnswer{}, fmt.Errorf("receive: %w", err)
		}
		switch e := event.(type) {
		case sock.Packet:
			if index, ok := r.packets.answered(e.Data, e.From.Addr(), r.sent); ok && index >= first {
				r.answered++
				r.wait = min(r.timeout, max(mtuLeast, mtuTrips*time.Since(r.last)))
				return mtuAnswer{passed: true}, nil
			}
		case sock.ICMPError:
			if index, ok := r.packets.quoted(e.Quoted, r.sent); ok && index >= first {
				return mtuAnswer{from: e.Offender, reason: e.Reason(), mtu: e.MTU}, nil
			}
		}
	}
}

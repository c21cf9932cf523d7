package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/analysis/hops"
	"github.com/pathwise-net/pathwise/sock"
)

// hopsRun is one measurement of hops under way. One goroutine sends and receives, so nothing in it is shared.
type hopsRun struct {
	*Capacity
	study   hops.Study
	way     way
	udp     hopsSocket
	syn     hopsSocket // without a socket: this process may not, or the target does not answer it
	synPort uint16
	synBase uint32
	tried   bool          // whether the target answers SYNs is known
	short   bool          // hops quote too little of a packet to tell which one it was: one is under way at a time
	longest time.Duration // of round trips so far
	bytes   int           // sent, at the IP layer
	coarse  int           // answers that the kernel did not stamp
	said    bool
	due     time.Time // when the next packet leaves
	until   time.Time // it ends then, whatever is known
	late    bool      // it ended then
}

// hopsSocket is a socket and the packets that it sent, in the kernel's numbers.
type hopsSocket struct {
	*sock.Socket
	sent []hopsFlight
	open int // packets, from which on some may still be answered
}

type hopsFlight struct {
	hops.Probe
	left sock.Stamp
	over bool // it was answered
}

// hopsIndex is how many bytes of payload say which packet it is.
const hopsIndex = 4

func newHopsRun(p *Capacity, w way) (*hopsRun, error) {
	run := &hopsRun{Capacity: p, way: w, study: newStudy(w.to), synBase: rand.Uint32()}
	udp, err := sock.OpenUDP(w.to.Is6())
	if err != nil {
		return nil, err
	}
	run.udp.Socket = udp
	if syn, port, err := sock.OpenSYN(netip.AddrPortFrom(w.from, 0)); err == nil { // without it the target answers as hops do
		run.syn.Socket, run.synPort = syn, port
	}
	return run, nil
}

func (h *hopsRun) sockets() (all []*hopsSocket) {
	for _, s := range []*hopsSocket{&h.udp, &h.syn} {
		if s.Socket != nil {
			all = append(all, s)
		}
	}
	return all
}

func (h *hopsRun) close() {
	for _, s := range h.sockets() {
		s.Close()
	}
}

func (h *hopsRun) interrupt() {
	h.udp.Interrupt()
	if h.syn.Socket != nil {
		h.syn.Interrupt()
	}
}

// do sends what the study asks for, until that knows enough, or a moment has come: the study counts the time for sending, and answers may have to be waited for.
func (h *hopsRun) do(ctx context.Context, until time.Time) error {
	h.until = until
	for {
		round := h.study.Next()
		if len(round.Probes) == 0 {
			return nil
		}
		h.say(round)
		for i, p := range round.Probes {
			if h.late = !time.Now().Before(until); h.late {
				h.study.Stop(round.Probes[i:])
				return nil
			}
			if err := h.send(p); err != nil {
				return err
			}
			space := time.Duration(round.Spacing * (0.5 + rand.Float64()) * float64(time.Second))
			h.due = latest(h.due.Add(space), time.Now())
			if err := h.listen(ctx, h.due, false); err != nil {
				return err
			}
			if h.short {
				if err := h.listen(ctx, time.Now().Add(h.wait()), true); err != nil {
					return err
				}
			}
		}
		if round.Settle {
			if err := h.listen(ctx, time.Now().Add(h.wait()), true); err != nil {
				return err
			}
		}
	}
}

// say says what is sent from now on, once of the rounds that go on until links are known.
func (h *hopsRun) say(round hops.Round) {
	switch {
	case h.Say == nil || h.said:
	case round.Settle:
		h.Say(fmt.Sprintf("%d packets, %.0f ms apart", len(round.Probes), round.Spacing*1e3))
	default:
		h.said = true
		h.Say(fmt.Sprintf("packets of all sizes to all hops, %.1f ms apart", round.Spacing*1e3))
	}
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// wait is how long to wait for an answer before going on without.
func (h *hopsRun) wait() time.Duration {
	if h.longest == 0 {
		return hopsTimeout
	}
	return min(hopsTimeout, max(hopsMinWait, hopsWaitTrip*h.longest))
}

// send sends a packet that expires at its hop, to the target by SYN where that answers it.
func (h *hopsRun) send(p hops.Probe) (err error) {
	s, payload, to := &h.udp, []byte(nil), netip.AddrPortFrom(h.way.to, uint16(h.Port))
	if h.bySYN(p) {
		s = &h.syn
		segment := segment{from: h.synPort, to: to.Port(), seq: h.synBase + uint32(len(s.sent))*synStep, flags: flagSYN}
		payload = segment.marshalWith(mssOption(synMSS), make([]byte, max(0, p.Size-ipHeader(h.way.to)-synHeader)), h.way.from, h.way.to)
	} else {
		payload = make([]byte, max(hopsIndex, p.Size-ipHeader(h.way.to)-udpHeader))
		binary.BigEndian.PutUint32(payload, uint32(len(s.sent)))
	}
	if err := s.SetTTL(p.TTL); err != nil {
		return err
	}
	_, before, err := s.Send(payload, to)
	if errors.Is(err, unix.EMSGSIZE) { // this host has learnt of a smaller MTU
		if mtu, _, err := sock.RouteMTU(h.way.to); err == nil {
			h.study.Limit(mtu)
		}
		return nil
	}
	if err != nil {
		return err
	}
	s.sent = append(s.sent, hopsFlight{Probe: p, left: sock.Stamp{User: before}})
	h.bytes += p.Size
	return nil
}

// synStep lies between the sequence numbers of two SYNs, so that what their bytes add to an acknowledgement does not matter.
const synStep = 4096

// bySYN reports whether a packet is a SYN. The first round for all sizes shows whether the target answers those.
func (h *hopsRun) bySYN(p hops.Probe) bool {
	return h.syn.Socket != nil && h.study.MayEnd(p.TTL) && (!h.tried || h.synAnswers())
}

func (h *hopsRun) synAnswers() bool {
	return slices.ContainsFunc(h.syn.sent, func(f hopsFlight) bool { return f.over })
}

// listen hears what comes until a moment, or the end of the measurement, or, where that is enough, until every packet is answered.
func (h *hopsRun) listen(ctx context.Context, until time.Time, answers bool) error {
	until = earliest(until, h.until)
	for turn := 0; ; turn++ {
		now := time.Now()
		if answers && h.waiting(now) == 0 || turn > 0 && !now.Before(until) {
			h.tried = h.tried || answers && len(h.syn.sent) > 0
			return nil
		}
		all := h.sockets()
		s, slice := all[turn%len(all)], until
		if len(all) > 1 { // the other one waits meanwhile; the kernel has stamped what comes there
			slice = earliest(until, now.Add(hopsSlice))
		}
		event, err := s.Receive(latest(slice, now.Add(hopsGlance)))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			h.handle(s, event)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
}

const (
	hopsSlice  = 2 * time.Millisecond
	hopsGlance = 50 * time.Microsecond
)

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// waiting counts the packets that may still be answered.
func (h *hopsRun) waiting(now time.Time) (count int) {
	for _, s := range h.sockets() {
		for s.open < len(s.sent) && (s.sent[s.open].over || now.Sub(s.sent[s.open].left.User) > h.wait()) {
			s.open++
		}
		for _, f := range s.sent[s.open:] {
			if !f.over {
				count++
			}
		}
	}
	return count
}

package probe

import (
	"encoding/binary"
	"time"

	"github.com/pathwise-net/pathwise/analysis/hops"
	"github.com/pathwise-net/pathwise/sock"
)

// handle takes what a socket heard.
func (h *hopsRun) handle(s *hopsSocket, event sock.Event) {
	switch e := event.(type) {
	case sock.Sent:
		if int(e.ID) < len(s.sent) {
			s.sent[e.ID].left.Kernel = e.Kernel
		}
	case sock.ICMPError:
		h.refused(s, e)
	case sock.Packet:
		if a, ok := parseSegment(e.Data); ok && s == &h.syn && e.From.Addr() == h.way.to.WithZone("") && a.to == h.synPort && a.flags&flagACK != 0 {
			h.answered(s, int((a.ack-1-h.synBase)/synStep), hops.Answer{From: e.From.Addr(), Reached: true}, e.At)
		}
	}
}

// refused takes an ICMP error about a packet.
func (h *hopsRun) refused(s *hopsSocket, e sock.ICMPError) {
	if e.To.Addr() != h.way.to.WithZone("") || s != &h.udp {
		return
	}
	reason := e.Reason()
	if reason == sock.TooBig {
		h.study.Limit(e.MTU)
		return
	}
	index, known := -1, len(e.Quoted) >= hopsIndex
	if known {
		index = int(binary.BigEndian.Uint32(e.Quoted))
	} else if index, known = h.only(e.At.User); !known {
		h.short = true
		return
	}
	h.answered(s, index, hops.Answer{From: e.Offender, Quoted: ipHeader(h.way.to) + udpHeader + len(e.Quoted), Reached: reason != sock.TimeExceeded}, e.At)
}

// only is the one packet that may still be answered, if it is one.
func (h *hopsRun) only(now time.Time) (index int, ok bool) {
	if h.waiting(now) != 1 {
		return 0, false
	}
	for i := h.udp.open; i < len(h.udp.sent); i++ {
		if !h.udp.sent[i].over {
			return i, true
		}
	}
	return 0, false
}

// answered takes the answer to a packet; copies of it tell nothing.
func (h *hopsRun) answered(s *hopsSocket, index int, a hops.Answer, at sock.Stamp) {
	if index < 0 || index >= len(s.sent) || s.sent[index].over {
		return
	}
	f := &s.sent[index]
	trip, kernel := sock.Elapsed(f.left, at)
	f.over = true
	h.longest = max(h.longest, trip)
	if !kernel {
		h.coarse++
	}
	a.Probe, a.RTT = f.Probe, trip.Seconds()
	h.study.Add(a)
}

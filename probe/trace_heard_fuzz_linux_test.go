package probe

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

const heardProbes = 6

// heardWires are wires without sockets: of each protocol and family, as one flow, as many, and as a trace for middleboxes has them.
func heardWires() (all []*packetWire) {
	for kind := range 3 {
		for _, f := range traceFlows() {
			switch {
			case kind == 1:
				f.ports = make([]atomic.Uint32, heardProbes)
				for id := range f.ports {
					f.ports[id].Store(uint32(f.flowMark(id / 2)))
				}
			case kind == 2 && f.protocol == traceTCP:
				f.crafted = &craftedSYN{}
			case kind == 2:
				continue
			}
			w := &packetWire{flow: f, raw: &sock.Socket{}}
			w.sent.Store(heardProbes)
			all = append(all, w)
		}
	}
	return all
}

// heardError is an ICMP message about a probe, with extensions behind 128 bytes of quote, whose length it does not say, as routers from before RFC 4884.
func heardError(w *packetWire, id int) []byte {
	q := w.flow.quote(id, 0, w.flow.to.Port())
	kind := byte(icmp.Exceeded4)
	var header []byte
	if q.IPv6 {
		kind = icmp.Exceeded6
		header = binary.BigEndian.AppendUint16([]byte{0x60, 0, 0, 0}, uint16(len(q.Transport)))
		header = append(append(append(header, q.Protocol, 1), q.From.AsSlice()...), q.To.AsSlice()...)
	} else {
		header = binary.BigEndian.AppendUint16([]byte{0x45, 0}, uint16(20+len(q.Transport)))
		header = append(append(append(header, 0, 0, 0, 0, 1, q.Protocol, 0, 0), q.From.AsSlice()...), q.To.AsSlice()...)
	}
	quoted := append(append(header, q.Transport...), make([]byte, 128)...)[:128]
	b := append([]byte{kind, 0, 0, 0, 0, 0, 0, 0}, quoted...)
	b = append(b, 0x20, 0, 0xd2, 0xf6, 0, 8, 1, 1, 0, 1, 0x11, 1)
	return sealed(b, q.IPv6)
}

// sealed gives an ICMP message of IPv4 its checksum; the kernel sees to that of IPv6.
func sealed(b []byte, ipv6 bool) []byte {
	b = bytes.Clone(b)
	if len(b) >= 8 && !ipv6 {
		b[2], b[3] = 0, 0
		binary.BigEndian.PutUint16(b[2:], icmp.Checksum(b))
	}
	return b
}

// Whatever a host sends to the sockets of a trace, each plan takes it, and what a Result says of it is printed. An answer is to a probe that was sent.
func FuzzTraceHeard(f *testing.F) {
	for i, w := range heardWires() {
		f.Add(uint8(i), heardError(w, 3), uint8(255))
		f.Add(uint8(i), w.flow.request(3), uint8(1))
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte, ttl uint8) {
		all := heardWires()
		w := all[int(which)%len(all)]
		now := time.Unix(1_000_000, 0)
		b = sealed(b, w.flow.to.Addr().Is6())
		from, at := w.flow.to, sock.Stamp{User: now.Add(time.Millisecond)}
		packet := sock.Packet{Data: b, From: from, TTL: int(ttl), At: at}
		queued := sock.ICMPError{IPv6: from.Addr().Is6(), Type: ttl, To: from, Offender: from.Addr(), Quoted: b, Extensions: b, At: at}
		byQueue := &packetWire{flow: w.flow}
		byQueue.sent.Store(heardProbes)
		var heard []traceAnswer
		for _, event := range []any{w.fromRaw(packet), w.fromSender(packet), byQueue.fromSender(queued)} {
			if a, is := event.(traceAnswer); is {
				heard = append(heard, a)
			}
		}
		for _, a := range heard {
			if !a.nameless && (a.id < -1 || a.id >= heardProbes) {
				t.Fatalf("an answer to probe %d of %d", a.id, heardProbes)
			}
		}
		hearAll(heard, w.flow, now)
	})
}

// hearAll has plans hear answers, and prints what they make of them.
func hearAll(heard []traceAnswer, flow *traceFlow, now time.Time) {
	t := Trace{Protocol: flow.protocol}.withDefaults()
	plan, live := newTracePlan(t), newLivePlan(t, time.Second, 1, liveNumbers)
	for ttl := 1; ttl <= heardProbes; ttl++ {
		plan.sent(ttl, now)
		live.sent(ttl, now)
	}
	for _, a := range heard {
		plan.hear(a)
		live.hear(a)
	}
	for range plan.choices(now) {
	}
	r := measure.NewResult("trace", now)
	for ttl := 1; ttl <= plan.length(); ttl++ {
		r.Samples.Hops = append(r.Samples.Hops, plan.hop(ttl, 0))
	}
	route := routeOf(r.Samples.Hops, plan.last(), plan.met)
	route.Remarks = remarksOf(r.Samples.Hops, flow.to.Addr().String(), route.LastForwards, true)
	r.Samples.Route = &route
	WriteText(io.Discard, r)
	state := live.state()
	r.Samples.Hops, r.Samples.Rounds = state.Hops, &state.Rounds
	WriteText(io.Discard, r)
}

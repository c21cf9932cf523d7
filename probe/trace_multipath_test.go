package probe

import (
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/icmp"
)

// With flows of many ports, a quote counts only if the port is that of the probe which it names, and a changed checksum is seen.
func TestMultipathQuotes(t *testing.T) {
	f := &traceFlow{protocol: traceUDP, from: netip.MustParseAddrPort("10.0.0.1:5000"), to: netip.MustParseAddrPort("10.0.5.2:33434"),
		token: [tokenSize]byte{1, 2, 3, 4, 5, 6, 7, 8}, ports: make([]atomic.Uint32, 3)}
	for id, flow := range []int{0, 7, 7} {
		f.ports[id].Store(uint32(f.flowPort(flow)))
	}
	quote := func(id int, port uint16, payload, shift int) icmp.Quote {
		sum := f.checksum(id, uint16(f.ports[id].Load())) + uint16(shift)
		data := append([]byte{5000 >> 8, 5000 & 0xff, byte(port >> 8), byte(port), 0, 40, byte(sum >> 8), byte(sum)}, f.request(id)[:payload]...)
		return icmp.Quote{From: f.from.Addr(), To: f.to.Addr(), Protocol: icmp.ProtocolUDP, Transport: data}
	}
	type seen struct {
		id    int
		ok    bool
		shift uint16
	}
	for _, c := range []struct {
		name string
		q    icmp.Quote
		want seen
	}{
		{"the first flow", quote(0, 33434, tracePayload, 0), seen{0, true, 0}},
		{"another flow", quote(1, 33441, tracePayload, 0), seen{1, true, 0}},
		{"a port of another flow", quote(1, 33434, tracePayload, 0), seen{}},
		{"a port that was not asked", quote(2, 40000, tracePayload, 0), seen{}},
		{"eight bytes alone", quote(2, 33441, 0, 0), seen{2, true, 0}},
		{"eight bytes, of another port", quote(2, 33434, 0, 0), seen{}},
		{"behind an address translator", quote(2, 33441, tracePayload, 99), seen{2, true, 99}},
	} {
		got := seen{}
		if id, ok := f.quoted(c.q, 3); ok {
			got = seen{id, ok, f.shift(c.q, id)}
		}
		if d := cmp.Diff(c.want, got, cmp.AllowUnexported(seen{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// Packets of one flow are the same where routers look, by whichever of ports, checksum and identifier they go, and those of another are not; answers
// count only with what the flow of their packet has.
func TestMultipathFlows(t *testing.T) {
	for _, f := range traceFlows() {
		f.ports, f.idents = make([]atomic.Uint32, 6), true
		for id, flow := range []int{0, 1, 1, 2, 30000, 30000} {
			f.ports[id].Store(uint32(f.flowMark(flow)))
		}
		words := func(id int) (ports, ident, checksum uint16) { // that routers may look at
			q := f.quote(id, 0, f.flowMark(0))
			switch f.protocol {
			case traceUDP:
				return uint16(f.ports[id].Load()), 0, 0
			case traceTCP:
				ports, _, _ = q.Ports()
				return ports, 0, 0
			}
			_, ident, checksum = 0, f.source(id), 0
			if !f.to.Addr().Is6() {
				_, _, checksum, _ = q.Echo()
			}
			return 0, ident, checksum
		}
		type three struct{ ports, ident, checksum uint16 }
		seen := map[three]int{}
		for id := range 6 {
			ports, ident, checksum := words(id)
			seen[three{ports, ident, checksum}]++
		}
		if len(seen) != 4 {
			t.Errorf("%s to %s: %d flows of 4: %v", f.protocol, f.to, len(seen), seen)
		}
		for id := range 6 {
			q := f.quote(id, 0, uint16(f.ports[id].Load()))
			if f.protocol == traceTCP {
				q = f.quote(id, 8, 0)
			}
			if got, ok := f.quoted(q, 6); got != id || !ok {
				t.Errorf("%s to %s: probe %d is taken for %d, %v", f.protocol, f.to, id, got, ok)
			}
		}
	}
}

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/proto/icmp"
)

// balancedWay is the way, of two, by which a router sends a packet of a flow that balances by all that a flow keeps: addresses, protocol, ports or identifier, and of
// ICMP the checksum.
func balancedWay(f *traceFlow, id int) uint64 {
	h := fnv.New64a()
	packet := f.request(id)
	fmt.Fprint(h, f.from, f.to, f.protocol)
	if f.protocol == traceICMP {
		h.Write(packet[2:6]) // the checksum, and the identifier
	}
	return h.Sum64() >> 32 % 2
}

// Of 100 series of ten traces over two balanced ways each takes one way, where traces share a flow; where they do not, hardly any does.
func TestTracesShareAFlow(t *testing.T) {
	for _, trace := range []Trace{{Protocol: traceUDP}, {Protocol: traceICMP}, {Protocol: traceTCP}, {Protocol: traceUDP, NewFlow: true}, {Protocol: traceICMP, NewFlow: true}} {
		changed, ways := 0, map[uint64]int{}
		for i := range 100 {
			seen := map[uint64]bool{}
			for n := range 10 {
				to := netip.AddrFrom4([4]byte{10, 0, 1, byte(i)})
				f := newTraceFlow(trace, way{from: netip.MustParseAddr("10.0.0.1"), to: to})
				port := f.wantedPorts(trace, "a host")[0]
				if trace.NewFlow {
					if port != 0 {
						t.Fatalf("%+v: wants port %d", trace, port)
					}
					port = uint16(40000 + 10*i + n) // which the kernel gives
				}
				f.from = netip.AddrPortFrom(f.from.Addr(), port)
				seen[balancedWay(f, n)] = true
			}
			if len(seen) > 1 {
				changed++
			}
			for w := range seen {
				ways[w]++
			}
		}
		if trace.NewFlow && changed < 50 || !trace.NewFlow && changed > 0 {
			t.Errorf("%+v: %d of 100 series took both ways", trace, changed)
		}
		if len(ways) != 2 {
			t.Errorf("%+v: all series took one way", trace)
		}
	}
}

// Who knows addresses and protocol does not know the port of a flow: hosts have several.
func TestHeldPortIsOfTheHost(t *testing.T) {
	ports := map[uint16]bool{}
	f := newTraceFlow(Trace{Protocol: traceUDP}, way{from: netip.MustParseAddr("10.0.0.1"), to: netip.MustParseAddr("10.0.1.1")})
	const hosts = 100
	for host := range hosts {
		port := f.heldPort(fmt.Sprint(host), 0)
		if again := f.heldPort(fmt.Sprint(host), 0); port < heldFirst || again != port {
			t.Errorf("ports %d and %d of one host", port, again)
		}
		ports[port] = true
	}
	if len(ports) < hosts-10 { // two of them may have one
		t.Errorf("%d hosts have %d ports", hosts, len(ports))
	}
	if key := hostKey(); len(key) < 32 || key != hostKey() {
		t.Errorf("the key of this host is %q", key)
	}
}

// Routers that spread flows look at addresses, ports, and of ICMP at the checksum: all that is the same for all probes.
func TestTraceFlowIsConstant(t *testing.T) {
	for _, f := range traceFlows() {
		first := f.request(0)
		for id := 1; id < 300; id++ {
			next := f.request(id)
			switch f.protocol {
			case traceICMP:
				if icmp.Checksum(next) != 0 && !f.to.Addr().Is6() || string(next[:6]) != string(first[:6]) {
					t.Fatalf("icmp to %s: probe %d begins with %x, the first with %x", f.to, id, next[:8], first[:8])
				}
			case traceTCP:
				if string(next[:4]) != string(first[:4]) {
					t.Fatalf("tcp to %s: probe %d has other ports", f.to, id)
				}
			case traceUDP:
				if len(next) != len(first) || f.checksum(id, 1) == f.checksum(id-1, 1) {
					t.Fatalf("udp to %s: probe %d is of another length, or has the checksum of the one before", f.to, id)
				}
			}
		}
	}
}

// The token that tells a trace's packets from those of others changes nothing of what a flow is of; and the sum of its ICMP messages is that in their header.
func TestTokenIsNotOfTheFlow(t *testing.T) {
	for _, f := range traceFlows() {
		if f.protocol != traceICMP {
			continue
		}
		sum := func(token uint64, id int) uint16 {
			binary.BigEndian.PutUint64(f.token[:], token)
			return binary.BigEndian.Uint16(f.request(id)[2:])
		}
		for _, token := range []uint64{1, 0xffffffffffffffff, 0x123456789abcdef0} {
			if a, b := sum(0x4242424242424242, 3), sum(token, 4); a != b && f.to.Addr().Is4() { // of IPv6 the kernel writes it, by the same bytes
				t.Errorf("checksums %04x and %04x", a, b)
			}
		}
	}
}

// Where another program has the port of a flow, or its identifier, a trace takes another one, and knows that; with ping sockets, too, which a namespace allows.
func TestTakenPortOfAFlow(t *testing.T) {
	inNamespace(t, func() { // where nobody else has ports
		for _, protocol := range []string{traceUDP, traceICMP, traceTCP} {
			takePorts(t, protocol)
		}
		if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 2147483647"), 0); err != nil {
			t.Error(err)
			return
		}
		takePorts(t, traceICMP)
	})
}

// takePorts opens what three traces send by, of one flow all of them. It may run on any goroutine.
func takePorts(t *testing.T, protocol string) {
	trace := Trace{Protocol: protocol}.withDefaults()
	open := func(from netip.AddrPort) (*traceFlow, error) {
		f := newTraceFlow(trace, way{from: from.Addr(), to: netip.MustParseAddr("127.86.0.18")})
		f.from = from
		s, err := openTraceSender(trace, f, true)
		if err == nil {
			t.Cleanup(func() { s.Close() })
		}
		return f, err
	}
	local := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 0)
	first, err := open(local)
	if isPermission(err) {
		t.Logf("%s is not tried: %v", protocol, err)
		return
	}
	second, failed := open(local)
	if err != nil || failed != nil {
		t.Errorf("%s: %v, %v", protocol, err, failed)
		return
	}
	if want := first.heldPort(hostKey(), 0); first.from.Port() != want || first.strayed {
		t.Errorf("%s: the first is of port %d, strayed %v; want %d", protocol, first.from.Port(), first.strayed, want)
	}
	if want := second.heldPort(hostKey(), 1); second.from.Port() != want || !second.strayed {
		t.Errorf("%s: the second is of port %d, strayed %v; want %d", protocol, second.from.Port(), second.strayed, want)
	}
	if _, err := open(first.from); !errors.Is(err, unix.EADDRINUSE) { // a flow that has its port gets no other
		t.Errorf("%s: the port of another one: %v", protocol, err)
	}
}

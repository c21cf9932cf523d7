package middlebox

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// step is one packet through a box, from inside or from outside, and the flow that comes out or the cause of its drop.
type step struct {
	seconds float64
	inward  bool
	data    []byte
	want    string
}

// walk takes steps, and returns the box for its counts.
func walk(t *testing.T, config string, steps []step) *Box {
	t.Helper()
	c, at := read(t, config), place
	if c.Firewall != nil && len(c.Firewall.Inside) == 0 {
		at.Inside = nil
	}
	b := New(c, at, 1)
	for i, s := range steps {
		at, got := int64(s.seconds*1e9), ""
		if s.inward {
			got = in(t, b, at, s.data)
		} else {
			got = out(t, b, at, s.data)
		}
		if got != s.want {
			t.Errorf("step %d (%s): got %s, want %s", i, packet.KeyOf(s.data), got, s.want)
		}
	}
	return b
}

const (
	syn    = packet.FlagSYN
	ack    = packet.FlagACK
	synAck = packet.FlagSYN | packet.FlagACK
	fin    = packet.FlagFIN | packet.FlagACK
	rst    = packet.FlagRST
)

func TestNATTranslatesBothWays(t *testing.T) {
	b := walk(t, "nat: {outside: z}", []step{
		{0, false, tcp(ap(hostA, 4000), ap(hostZ, 80), syn, nil, ""), "tcp 10.0.5.1:4000 > 10.0.9.2:80"},
		{0, true, tcp(ap(hostZ, 80), ap(router, 4000), synAck, nil, ""), "tcp 10.0.9.2:80 > 10.0.0.1:4000"},
		{0, false, udpPacket(ap(hostA, 4000), ap(hostZ, 53), "question"), "udp 10.0.5.1:4000 > 10.0.9.2:53"},
		{0, true, udpPacket(ap(hostZ, 53), ap(router, 4000), "answer"), "udp 10.0.9.2:53 > 10.0.0.1:4000"},
		{0, false, echoPacket(hostA, hostZ, false, 7), "icmp 10.0.5.1 > 10.0.9.2 id 7"},
		{0, true, echoPacket(hostZ, router, true, 7), "icmp 10.0.9.2 > 10.0.0.1 id 7"},
		// The same ports of another host inside are taken, so it gets the next ones.
		{0, false, tcp(ap(hostA2, 4000), ap(hostZ, 80), syn, nil, ""), "tcp 10.0.5.1:4001 > 10.0.9.2:80"},
		{0, true, tcp(ap(hostZ, 80), ap(router, 4001), synAck, nil, ""), "tcp 10.0.9.2:80 > 10.0.0.3:4000"},
		{0, false, udpPacket(ap(hostA2, 4000), ap(hostZ, 53), "question"), "udp 10.0.5.1:4001 > 10.0.9.2:53"},
		{0, false, echoPacket(hostA2, hostZ, false, 7), "icmp 10.0.5.1 > 10.0.9.2 id 8"},
		{0, true, echoPacket(hostZ, router, true, 8), "icmp 10.0.9.2 > 10.0.0.3 id 7"},
		// A mapping does not depend on whom it is used with.
		{0, false, tcp(ap(hostA2, 4000), ap(hostZ, 443), syn, nil, ""), "tcp 10.0.5.1:4001 > 10.0.9.2:443"},
		{0, true, udpPacket(ap(netip.MustParseAddr("10.9.9.9"), 9), ap(router, 4001), "?"), "udp 10.9.9.9:9 > 10.0.0.3:4000"},
		// What nobody asked for, and what knows a host inside by its own address.
		{0, true, tcp(ap(hostZ, 80), ap(router, 4002), syn, nil, ""), "nat"},
		{0, true, tcp(ap(hostZ, 80), ap(hostA, 4000), syn, nil, ""), "nat"},
		{0, true, echoPacket(hostZ, router, true, 99), "nat"},
		// The lowest ports stay among themselves, and IPv6 is routed as it is.
		{0, false, udpPacket(ap(hostA, 1023), ap(hostZ, 53), ""), "udp 10.0.5.1:1023 > 10.0.9.2:53"},
		{0, false, udpPacket(ap(hostA2, 1023), ap(hostZ, 53), ""), "udp 10.0.5.1:1 > 10.0.9.2:53"},
		{0, false, udpPacket(ap(hostA, 65535), ap(hostZ, 53), ""), "udp 10.0.5.1:65535 > 10.0.9.2:53"},
		{0, false, udpPacket(ap(hostA2, 65535), ap(hostZ, 53), ""), "udp 10.0.5.1:1024 > 10.0.9.2:53"},
		{0, false, udpPacket(ap(hostA6, 9), ap(hostZ6, 53), ""), "udp [fd00::a]:9 > [fd00::9:2]:53"},
		// A protocol without ports has nothing to tell hosts inside apart by.
		{0, false, wrap(hostA, hostZ, 47, make([]byte, 8)), "nat"},
	})
	want := Counts{Translated: 17, Untranslated: 4, Mappings: 10}
	if diff := cmp.Diff(want, b.Counts()); diff != "" {
		t.Error(diff)
	}
}

func TestNATOfIPv6(t *testing.T) {
	walk(t, "nat: {outside: z, ipv6: true, forward: [{port: 80, to: web}]}", []step{
		{0, false, tcp(ap(hostA6, 4000), ap(hostZ6, 80), syn, nil, ""), "tcp [fd00::5:1]:4000 > [fd00::9:2]:80"},
		{0, true, tcp(ap(hostZ6, 80), ap(router6, 4000), synAck, nil, ""), "tcp [fd00::9:2]:80 > [fd00::a]:4000"},
		{0, false, echoPacket(hostA6, hostZ6, false, 5), "icmp6 fd00::5:1 > fd00::9:2 id 5"},
		{0, true, echoPacket(hostZ6, router6, true, 5), "icmp6 fd00::9:2 > fd00::a id 5"},
		{0, true, tcp(ap(hostZ6, 1), ap(router6, 80), syn, nil, ""), "tcp [fd00::9:2]:1 > [fd00::a]:80"},
		{0, false, udpPacket(ap(hostA, 4000), ap(hostZ, 53), ""), "udp 10.0.5.1:4000 > 10.0.9.2:53"},
	})
}

func TestNATForwardsPorts(t *testing.T) {
	walk(t, "nat: {outside: z, idle: 1s, filtering: port, forward: [{port: 5201, to: web, to_port: 80, protocol: tcp}]}", []step{
		{0, true, tcp(ap(hostZ, 1), ap(router, 5201), syn, nil, ""), "tcp 10.0.9.2:1 > 10.0.0.3:80"},
		{0, false, tcp(ap(hostA2, 80), ap(hostZ, 1), synAck, nil, ""), "tcp 10.0.5.1:5201 > 10.0.9.2:1"},
		{99, true, tcp(ap(hostZ, 1), ap(router, 5201), ack, nil, ""), "tcp 10.0.9.2:1 > 10.0.0.3:80"},
		{99, true, udpPacket(ap(hostZ, 1), ap(router, 5201), ""), "nat"},
		{99, false, tcp(ap(hostA, 5201), ap(hostZ, 1), syn, nil, ""), "tcp 10.0.5.1:5202 > 10.0.9.2:1"},
	})
}

// What comes to a port forward in fragments gets in, and so does its answer out.
func TestNATForwardsFragments(t *testing.T) {
	long := strings.Repeat("data", 700)
	for _, protocol := range []string{"", ", protocol: udp"} {
		b := New(read(t, "nat: {outside: z, forward: [{port: 5201, to: web, to_port: 80"+protocol+"}]}"), place, 1)
		for i, f := range fragmentsOf(udpPacket(ap(hostZ, 1), ap(router, 5201), long)) {
			if got, cause := through(t, b, 0, f, outsideNumber, insideNumber); got == nil || packet.Target(got) != hostA2 {
				t.Errorf("{%s}, fragment %d of the question: %v", protocol, i, cause)
			}
		}
		for i, f := range fragmentsOf(udpPacket(ap(hostA2, 80), ap(hostZ, 1), long)) {
			if got, cause := through(t, b, 0, f, insideNumber, outsideNumber); got == nil || packet.Source(got) != router {
				t.Errorf("{%s}, fragment %d of the answer: %v", protocol, i, cause)
			}
		}
	}
}

func TestNATFiltering(t *testing.T) {
	other := netip.MustParseAddr("10.0.9.3")
	question := udpPacket(ap(hostA, 4000), ap(hostZ, 53), "")
	const asked, known, neighbour, stranger = "udp 10.0.5.1:4000 > 10.0.9.2:53", "udp 10.0.9.2:53 > 10.0.0.1:4000",
		"udp 10.0.9.2:54 > 10.0.0.1:4000", "udp 10.0.9.3:53 > 10.0.0.1:4000"
	for filtering, want := range map[string][]string{
		"independent": {known, neighbour, stranger},
		"address":     {known, neighbour, "nat"},
		"port":        {known, "nat", "nat"},
	} {
		walk(t, "nat: {outside: z, filtering: "+filtering+"}", []step{
			{0, false, question, asked},
			{0, true, udpPacket(ap(hostZ, 53), ap(router, 4000), ""), want[0]},
			{0, true, udpPacket(ap(hostZ, 54), ap(router, 4000), ""), want[1]},
			{0, true, udpPacket(ap(other, 53), ap(router, 4000), ""), want[2]},
		})
	}
}

func TestNATForgetsRemotesOfMappingsThatHaveGone(t *testing.T) {
	b := New(read(t, "nat: {outside: z, idle: 1s, filtering: port}"), place, 1)
	for i := range int64(5 * minSweep) {
		out(t, b, i*second/10, udpPacket(ap(hostA, uint16(2000+i)), ap(hostZ, 53), ""))
	}
	if n := len(b.nat.remotes); n > minSweep {
		t.Errorf("%d remotes are remembered, want at most %d", n, minSweep)
	}
	if n := b.Counts().Mappings; n > 12 {
		t.Errorf("%d mappings are remembered, want those of the last second", n)
	}
}

// One mapping may be used to send to ever more remotes; those beyond the bound are let go, until there is room again.
func TestNATBoundsRemotes(t *testing.T) {
	m := New(read(t, "nat: {outside: z, filtering: port}"), place, 1).nat
	m.mappings = []mapping{{serial: 1}}
	for i := range uint64(maxEntries + 10) {
		m.meet(remote{1, words{0, i}, 53})
	}
	if n := len(m.remotes); n != maxEntries {
		t.Errorf("%d remotes are remembered, want %d", n, maxEntries)
	}
	m.mappings[0].serial = 2
	for i := range uint64(maxEntries) {
		m.meet(remote{2, words{0, i}, 53})
	}
	if _, known := m.remotes[remote{2, words{0, maxEntries - 1}, 53}]; !known {
		t.Error("no room again after the mapping had gone")
	}
}

func TestNATForgetsIdleMappings(t *testing.T) {
	answer := udpPacket(ap(hostZ, 53), ap(router, 4000), "")
	const in = "udp 10.0.9.2:53 > 10.0.0.1:4000"
	walk(t, "nat: {outside: z}", []step{
		{0, false, udpPacket(ap(hostA, 4000), ap(hostZ, 53), ""), "udp 10.0.5.1:4000 > 10.0.9.2:53"},
		{300, true, answer, in},
		{600, true, answer, in}, // each packet is use
		{900.1, true, answer, "nat"},
		{900.1, false, udpPacket(ap(hostA2, 4000), ap(hostZ, 53), ""), "udp 10.0.5.1:4000 > 10.0.9.2:53"},
	})
	data := tcp(ap(hostZ, 80), ap(router, 4000), ack, nil, "x")
	const tcpIn = "tcp 10.0.9.2:80 > 10.0.0.1:4000"
	const tcpOut = "tcp 10.0.5.1:4000 > 10.0.9.2:80"
	walk(t, "nat: {outside: z}", []step{
		{0, false, tcp(ap(hostA, 4000), ap(hostZ, 80), syn, nil, ""), tcpOut},
		{240, true, tcp(ap(hostZ, 80), ap(router, 4000), synAck, nil, ""), tcpIn},
		{7680, true, data, tcpIn}, // open: 7440 s
		{7681, true, tcp(ap(hostZ, 80), ap(router, 4000), fin, nil, ""), tcpIn},         // half closed, which is open
		{7681 + 7440, false, tcp(ap(hostA, 4000), ap(hostZ, 80), fin, nil, ""), tcpOut}, // closed
		{7681 + 7440 + 240, true, data, tcpIn},
		{7681 + 7440 + 481, true, data, "nat"},
		{20000, false, tcp(ap(hostA, 4000), ap(hostZ, 80), syn, nil, ""), tcpOut},
		{20241, true, tcp(ap(hostZ, 80), ap(router, 4000), synAck, nil, ""), "nat"}, // was never open
		{30000, false, echoPacket(hostA, hostZ, false, 7), "icmp 10.0.5.1 > 10.0.9.2 id 7"},
		{30060, true, echoPacket(hostZ, router, true, 7), "icmp 10.0.9.2 > 10.0.0.1 id 7"},
		{30121, true, echoPacket(hostZ, router, true, 7), "nat"},
	})
	walk(t, "nat: {outside: z, idle: {opening: 10s}}", []step{ // which goes for what has ended, too
		{0, false, tcp(ap(hostA, 4000), ap(hostZ, 80), syn, nil, ""), tcpOut},
		{5, true, tcp(ap(hostZ, 80), ap(router, 4000), fin, nil, ""), tcpIn},
		{50, false, tcp(ap(hostA, 4000), ap(hostZ, 80), fin, nil, ""), tcpOut},
		{60, true, data, tcpIn},
		{70.1, true, data, "nat"},
	})
}

func TestNATRunsOutOfEntriesAndPorts(t *testing.T) {
	walk(t, "nat: {outside: z, entries: 2, idle: 10s}", []step{
		{0, false, udpPacket(ap(hostA, 1), ap(hostZ, 53), ""), "udp 10.0.5.1:1 > 10.0.9.2:53"},
		{5, false, udpPacket(ap(hostA, 2), ap(hostZ, 53), ""), "udp 10.0.5.1:2 > 10.0.9.2:53"},
		{5, false, udpPacket(ap(hostA, 3), ap(hostZ, 53), ""), "nat"},
		{11, false, udpPacket(ap(hostA, 3), ap(hostZ, 53), ""), "udp 10.0.5.1:3 > 10.0.9.2:53"},
	})
	walk(t, "nat: {outside: z}", []step{ // the search goes on from the port given last
		{0, false, udpPacket(ap(hostA, 4000), ap(hostZ, 53), ""), "udp 10.0.5.1:4000 > 10.0.9.2:53"},
		{0, false, udpPacket(ap(hostA, 6000), ap(hostZ, 53), ""), "udp 10.0.5.1:6000 > 10.0.9.2:53"},
		{0, false, udpPacket(ap(hostA2, 4000), ap(hostZ, 53), ""), "udp 10.0.5.1:6001 > 10.0.9.2:53"},
		{0, false, udpPacket(ap(hostA2, 4001), ap(hostZ, 53), ""), "udp 10.0.5.1:4001 > 10.0.9.2:53"},
	})
	b := New(read(t, "nat: {outside: z}"), place, 1)
	for i := range 1023 {
		out(t, b, 0, udpPacket(ap(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 500), ap(hostZ, 500), ""))
	}
	if got := out(t, b, 0, udpPacket(ap(hostA, 500), ap(hostZ, 500), "")); got != "nat" {
		t.Errorf("got %s from 1023 ports for 1024 hosts", got)
	}
}

// A NAT without a free port says so at once, however many there are: to refuse 1000 packets takes less than to map all ports.
func TestNATRefusesQuickly(t *testing.T) {
	b := New(read(t, "nat: {outside: z}"), place, 1)
	began := time.Now()
	for port := firstUserPort; port < 1<<16; port++ {
		out(t, b, 0, udpPacket(ap(hostA, uint16(port)), ap(hostZ, 53), ""))
	}
	filled := time.Now()
	for i := range 1000 {
		if got := out(t, b, 0, udpPacket(ap(hostA2, uint16(firstUserPort+i)), ap(hostZ, 53), "")); got != "nat" {
			t.Fatalf("got %s from a NAT without a free port", got)
		}
	}
	if refused := time.Since(filled); refused > filled.Sub(began) {
		t.Errorf("1000 packets were refused in %v; %d ports were mapped in %v", refused, 1<<16-firstUserPort, filled.Sub(began))
	}
}

func TestNATHairpin(t *testing.T) {
	b := New(read(t, "nat: {outside: z}"), place, 1)
	out(t, b, 0, udpPacket(ap(hostA, 4000), ap(hostZ, 53), ""))
	back := func(data []byte) string { return named(through(t, b, 0, data, insideNumber, insideNumber)) }
	if got, want := back(udpPacket(ap(hostA2, 5000), ap(router, 4000), "")), "udp 10.0.5.1:5000 > 10.0.0.1:4000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := back(udpPacket(ap(hostA, 4000), ap(router, 5000), "")), "udp 10.0.5.1:4000 > 10.0.0.3:5000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// What A says of A2's packet, it says of one that A2 knows again.
	sent := udpPacket(ap(hostA2, 5000), ap(router, 4000), "")
	came, _ := through(t, b, 0, sent, insideNumber, insideNumber)
	got, cause := through(t, b, 0, errorAbout(t, hostA, came, packet.PortClosed), insideNumber, insideNumber)
	if diff := cmp.Diff(errorAbout(t, router, sent, packet.PortClosed), got); diff != "" {
		t.Errorf("error about a hairpinned packet: %v %s", cause, diff)
	}
	untouched := echoPacket(hostA2, router, false, 4000)
	if got, want := back(untouched), "icmp 10.0.0.3 > 10.0.5.1 id 4000"; got != want {
		t.Errorf("got %s, want %s: the router answers pings itself", got, want)
	}
}

func TestNATTranslatesWhatErrorsQuote(t *testing.T) {
	hop, inner := netip.MustParseAddr("10.0.7.7"), netip.MustParseAddr("10.0.3.3")
	long := strings.Repeat("x", 400)
	for _, sent := range [][]byte{
		tcp(ap(hostA2, 4000), ap(hostZ, 80), syn, nil, long), udpPacket(ap(hostA2, 4000), ap(hostZ, 80), long),
		echoPacket(hostA2, hostZ, false, 4000),
	} {
		b := New(read(t, "nat: {outside: z}"), place, 1)
		out(t, b, 0, tcp(ap(hostA, 4000), ap(hostZ, 80), syn, nil, ""))
		out(t, b, 0, udpPacket(ap(hostA, 4000), ap(hostZ, 80), ""))
		out(t, b, 0, echoPacket(hostA, hostZ, false, 4000))
		wire, _ := through(t, b, 0, sent, insideNumber, outsideNumber)
		got, cause := through(t, b, 0, errorAbout(t, hop, wire, packet.HopsUsedUp), outsideNumber, insideNumber)
		// What the host gets is what it would have got without NAT.
		if diff := cmp.Diff(errorAbout(t, hop, sent, packet.HopsUsedUp), got); diff != "" {
			t.Errorf("%s: %v %s", packet.KeyOf(sent), cause, diff)
		}
		// An answer from outside that a router inside complains about: the sender must know its own packet again.
		answer := reversed(wire)
		inward, _ := through(t, b, 0, answer, outsideNumber, insideNumber)
		got, cause = through(t, b, 0, errorAbout(t, inner, inward, packet.TooBigFor), insideNumber, outsideNumber)
		if diff := cmp.Diff(errorAbout(t, router, answer, packet.TooBigFor), got); diff != "" {
			t.Errorf("%s: %v %s", packet.KeyOf(answer), cause, diff)
		}
		// The router itself complains about the answer after Arrive.
		p := &packet.Packet{Data: errorAbout(t, router, inward, packet.HopsUsedUp)}
		b.Leave(0, p, -1, outsideNumber)
		if diff := cmp.Diff(errorAbout(t, router, answer, packet.HopsUsedUp), p.Data); diff != "" {
			t.Errorf("%s: own error: %s", packet.KeyOf(answer), diff)
		}
		// It complains to a host inside about what that sent to the other's own address.
		across := slices.Clone(inward)
		copy(across[12:], hostA.AsSlice())
		p = &packet.Packet{Data: errorAbout(t, inner, across, packet.HopsUsedUp)}
		own := slices.Clone(p.Data)
		b.Leave(0, p, -1, insideNumber)
		if diff := cmp.Diff(own, p.Data); diff != "" {
			t.Errorf("%s: own error to inside: %s", packet.KeyOf(answer), diff)
		}
		// A quotation that goes by the outside address but that nobody inside sent.
		stray := errorAbout(t, hop, udpPacket(ap(router, 9), ap(hostZ, 80), ""), packet.HopsUsedUp)
		if got := in(t, b, 0, stray); got != "nat" {
			t.Errorf("an error about nothing: got %s", got)
		}
	}
}

// reversed is the answer to a packet as its receiver would send it.
func reversed(b []byte) []byte {
	k := packet.KeyOf(b)
	source, target := k.Addresses()
	switch k.Protocol {
	case packet.ProtocolTCP:
		return tcp(ap(target, k.TargetPort), ap(source, k.SourcePort), synAck, nil, "")
	case packet.ProtocolUDP:
		return udpPacket(ap(target, k.TargetPort), ap(source, k.SourcePort), "answer")
	}
	return echoPacket(target, source, true, k.SourcePort)
}

// fragmentsOf cuts an IPv4 packet for an MTU of 1000.
func fragmentsOf(whole []byte) (parts [][]byte) {
	pool := &packet.Pool{}
	p := pool.Clone(&packet.Packet{Data: whole})
	packet.AllowFragments(p.Data)
	packet.Fragment(pool, p, 1000, func(f *packet.Packet) { parts = append(parts, slices.Clone(f.Data)) })
	return parts
}

func TestNATOfFragments(t *testing.T) {
	whole := udpPacket(ap(hostA, 4000), ap(hostZ, 53), strings.Repeat("data", 700))
	parts := fragmentsOf(whole)
	b := New(read(t, "nat: {outside: z}\nfirewall: {inside: [a]}"), place, 1)
	if got := out(t, b, 0, parts[1]); got != "nat" {
		t.Errorf("a later fragment without its first: got %s", got)
	}
	payload := make([]byte, 0, len(whole))
	for _, part := range parts {
		got, _ := through(t, b, 0, part, insideNumber, outsideNumber)
		payload = append(payload, got[20:]...)
	}
	joined := wrap(router, hostZ, packet.ProtocolUDP, slices.Clone(payload))
	copy(joined[20:], payload) // with the checksum that came out
	if err := verify(joined); err != nil {
		t.Errorf("joined fragments: %v", err)
	}
	// And back: the answer has the same shape.
	for i, part := range parts {
		answer := slices.Clone(part)
		copy(answer[12:], hostZ.AsSlice())
		copy(answer[16:], router.AsSlice())
		if i == 0 {
			be.PutUint16(answer[20:], 53)
			be.PutUint16(answer[22:], 4000)
		}
		be.PutUint16(answer[10:], 0)
		be.PutUint16(answer[10:], ^uint16(naiveSum(0, answer[:20])))
		got, cause := through(t, b, 0, answer, outsideNumber, insideNumber)
		if got == nil || packet.Target(got) != hostA {
			t.Errorf("fragment %d of the answer: %v", i, cause)
		}
	}
}

// A checksum that the host left to its adapter holds the pseudo-header's sum; it must come out right in the end.
func TestNATOfUnfinishedChecksums(t *testing.T) {
	data := tcp(ap(hostA2, 4000), ap(hostZ, 80), syn, []byte{2, 4, 5, 0xb4, 4, 2, 3, 3, 7}, "payload")
	be.PutUint16(data[36:], 0)
	pseudo := naiveSum(uint32(packet.ProtocolTCP)+uint32(len(data)-20), data[12:20])
	be.PutUint16(data[36:], uint16(pseudo))
	p := &packet.Packet{Data: data, VNet: packet.VNet{NeedsChecksum: true, ChecksumStart: 20, ChecksumOffset: 16}}
	b := New(read(t, "nat: {outside: z}\nstrip: [sack, wscale]\nmss: 1000\ndscp: EF\nrandomize_sequence: true"), place, 1)
	out(t, b, 0, tcp(ap(hostA, 4000), ap(hostZ, 80), syn, nil, ""))
	b.Arrive(0, p, insideNumber)
	b.Leave(0, p, insideNumber, outsideNumber)
	p.Finish()
	if err := verify(p.Data); err != nil {
		t.Error(err)
	}
	if got, want := packet.KeyOf(p.Data).String(), "tcp 10.0.5.1:4001 > 10.0.9.2:80"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

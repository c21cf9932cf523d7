package middlebox

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// The packets of a connection from a to z, and the flows as they pass.
var (
	syn1     = tcp(ap(hostA, 4000), ap(hostZ, 80), syn, nil, "")
	synAck1  = tcp(ap(hostZ, 80), ap(hostA, 4000), synAck, nil, "")
	dataOut1 = tcp(ap(hostA, 4000), ap(hostZ, 80), ack, nil, "question")
	dataIn1  = tcp(ap(hostZ, 80), ap(hostA, 4000), ack, nil, "answer")
	finOut1  = tcp(ap(hostA, 4000), ap(hostZ, 80), fin, nil, "")
	finIn1   = tcp(ap(hostZ, 80), ap(hostA, 4000), fin, nil, "")
	rstIn1   = tcp(ap(hostZ, 80), ap(hostA, 4000), rst, nil, "")
	synIn    = tcp(ap(hostZ, 5000), ap(hostA, 22), syn, nil, "")
	synAckTo = tcp(ap(hostA, 22), ap(hostZ, 5000), synAck, nil, "")
)

const (
	passOut = "tcp 10.0.0.1:4000 > 10.0.9.2:80"
	passIn  = "tcp 10.0.9.2:80 > 10.0.0.1:4000"
)

func TestFirewallKnowsConnections(t *testing.T) {
	b := walk(t, "firewall: {inside: [a]}", []step{
		{0, true, synIn, "filtered"},
		{0, false, dataOut1, "filtered"}, // only a SYN begins one
		{0, false, synAckTo, "filtered"},
		{0, true, synAck1, "filtered"},
		{0, false, syn1, passOut},
		{1, true, synAck1, passIn},
		{7441, true, dataIn1, passIn},
		{7442, false, finOut1, passOut},
		{7500, true, finIn1, passIn},
		{7600, false, dataOut1, passOut}, // lingers 120 s
		{7721, true, dataIn1, "filtered"},
		{8000, false, syn1, passOut},
		{8001, true, rstIn1, passIn},
		{8011, true, dataIn1, passIn}, // lingers 10 s
		{8012, false, syn1, passOut},  // the same ports again
		{8030, true, synAck1, passIn},
		{8040, true, rstIn1, passIn},
		{8051, true, synAck1, "filtered"},
		{9000, false, udpPacket(ap(hostA, 4000), ap(hostZ, 53), ""), "udp 10.0.0.1:4000 > 10.0.9.2:53"},
		{9300, true, udpPacket(ap(hostZ, 53), ap(hostA, 4000), ""), "udp 10.0.9.2:53 > 10.0.0.1:4000"},
		{9300, true, udpPacket(ap(hostZ, 54), ap(hostA, 4000), ""), "filtered"},
		{9601, true, udpPacket(ap(hostZ, 53), ap(hostA, 4000), ""), "filtered"},
		{9601, false, udpPacket(ap(hostA, 4000), ap(hostZ, 53), ""), "udp 10.0.0.1:4000 > 10.0.9.2:53"},
		{9700, false, echoPacket(hostA, hostZ, false, 7), "icmp 10.0.0.1 > 10.0.9.2 id 7"},
		{9700, true, echoPacket(hostZ, hostA, true, 7), "icmp 10.0.9.2 > 10.0.0.1 id 7"},
		{9700, true, echoPacket(hostZ, hostA, true, 8), "filtered"},
		{9700, true, echoPacket(hostZ, hostA, false, 7), "filtered"},
		{9700, false, echoPacket(hostA, hostZ, true, 9), "filtered"}, // an answer to nothing
		{9700, false, syn6, "tcp [fd00::a]:4000 > [fd00::9:2]:80"},
		{9700, true, reversed(syn6), "tcp [fd00::9:2]:80 > [fd00::a]:4000"},
	})
	if got, want := b.Counts().Filtered, int64(11); got != want {
		t.Errorf("filtered %d, want %d", got, want)
	}
}

// A ping that is larger than the MTU is a ping, too.
func TestFirewallKnowsFragmentedPings(t *testing.T) {
	ping := func(from, to netip.Addr, kind byte) [][]byte {
		return fragmentsOf(wrap(from, to, packet.ProtocolICMP, append([]byte{kind, 0, 0, 0, 0, 7, 0, 1}, make([]byte, 2000)...)))
	}
	ask, reply := ping(hostA, hostZ, 8), ping(hostZ, hostA, 0)
	walk(t, "firewall: {inside: [a]}", []step{
		{0, true, reply[0], "filtered"},
		{0, true, reply[1], "filtered"},
		{0, false, ping(hostA, hostZ, 0)[0], "filtered"}, // an answer to nothing
		{0, false, ask[0], "icmp 10.0.0.1 > 10.0.9.2 id 7"},
		{0, false, ask[1], "icmp 10.0.0.1 > 10.0.9.2"},
		{0, true, reply[0], "icmp 10.0.9.2 > 10.0.0.1 id 7"},
		{0, true, reply[1], "icmp 10.0.9.2 > 10.0.0.1"},
		{0, false, wrap(hostA6, hostZ6, 44, []byte{58, 0, 0, 1, 0, 0, 0, 9, 128, 0, 0, 0, 0, 7, 0, 1}), "icmp6 fd00::a > fd00::9:2 id 7"},
		{0, false, wrap(hostA6, hostZ6, packet.ProtocolICMP, []byte{8, 0, 0, 0, 0, 7, 0, 1}), "filtered"}, // IPv4's ICMP in IPv6
	})
}

var syn6 = tcp(ap(hostA6, 4000), ap(hostZ6, 80), syn, nil, "")

// The classic fault: a connection that rests for longer than the firewall remembers is dead, and nobody says so.
func TestFirewallForgetsIdleConnections(t *testing.T) {
	walk(t, "firewall: {inside: [a], idle: 60s}", []step{
		{0, false, syn1, passOut},
		{0, true, synAck1, passIn},
		{60, false, dataOut1, passOut},
		{120.1, false, dataOut1, "filtered"},
		{120.2, true, dataIn1, "filtered"},
		{121, false, syn1, passOut},
		{121, false, finOut1, passOut},
		{121, true, finIn1, passIn},
		{182, false, dataOut1, "filtered"}, // what has ended is not remembered for longer
	})
}

func TestFirewallPassesRelatedErrors(t *testing.T) {
	hop := netip.MustParseAddr("10.0.7.7")
	walk(t, "firewall: {inside: [a]}", []step{
		{0, true, errorAbout(t, hop, syn1, packet.TooBigFor), "filtered"},
		{0, false, syn1, passOut},
		{0, true, errorAbout(t, hop, syn1, packet.TooBigFor), "icmp 10.0.7.7 > 10.0.0.1"},
		{0, false, errorAbout(t, hop, synIn, packet.PortClosed), "icmp 10.0.7.7 > 10.0.9.2"},
		{241, true, errorAbout(t, hop, syn1, packet.TooBigFor), "filtered"},
	})
}

func TestFirewallRules(t *testing.T) {
	walk(t, "firewall: {inside: [a], allow: [{target_port: 22, protocol: tcp}], deny: [{port: 80}]}", []step{
		{0, true, synIn, "tcp 10.0.9.2:5000 > 10.0.0.1:22"},
		{0, false, synAckTo, "tcp 10.0.0.1:22 > 10.0.9.2:5000"},
		{0, true, errorAbout(t, hostZ, synAckTo, packet.PortClosed), "icmp 10.0.9.2 > 10.0.0.1"},
		{0, true, tcp(ap(hostZ, 5001), ap(hostA, 22), ack, nil, ""), "filtered"}, // allowed, but no beginning
		{0, false, syn1, "filtered"},
	})
	walk(t, "firewall: {deny: [{dscp: EF}]}", []step{
		{0, true, dataIn1, passIn},
		{0, true, marked(dataIn1, 46<<2), "filtered"},
	})
	walk(t, "firewall: {inside: [a], entries: 1, idle: 5s}", []step{
		{0, false, udpPacket(ap(hostA, 1), ap(hostZ, 2), ""), "udp 10.0.0.1:1 > 10.0.9.2:2"},
		{5, false, udpPacket(ap(hostA, 2), ap(hostZ, 2), ""), "filtered"},
		{6, false, udpPacket(ap(hostA, 2), ap(hostZ, 2), ""), "udp 10.0.0.1:2 > 10.0.9.2:2"},
	})
	b := New(read(t, "firewall: {inside: [a], reject: true}"), place, 1)
	got := b.Leave(0, &packet.Packet{Data: synIn}, outsideNumber, insideNumber)
	want := Verdict{Cause: packet.Filtered, Complain: true, Trouble: packet.Prohibited}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, path := range [][2]int{{insideNumber, insideNumber}, {outsideNumber, outsideNumber}, {-1, insideNumber}} {
		if v := b.Leave(0, &packet.Packet{Data: synIn}, path[0], path[1]); v.Cause != packet.Kept {
			t.Errorf("from %d to %d: %v", path[0], path[1], v)
		}
	}
}

// marked returns the IPv4 packet with another traffic class.
func marked(b []byte, class byte) []byte {
	c := append([]byte(nil), b...)
	c[1] = class
	be.PutUint16(c[10:], 0)
	be.PutUint16(c[10:], ^uint16(naiveSum(0, c[:20])))
	return c
}

func TestFirewallBehindNAT(t *testing.T) {
	walk(t, "{nat: {outside: z, forward: [{port: 80, to: web}]}, firewall: {inside: [a], idle: 60s}}", []step{
		{0, false, syn1, "tcp 10.0.5.1:4000 > 10.0.9.2:80"},
		{0, true, tcp(ap(hostZ, 80), ap(router, 4000), synAck, nil, ""), passIn},
		{0, true, tcp(ap(hostZ, 81), ap(router, 4000), synAck, nil, ""), "filtered"}, // the mapping is there for all, the firewall is not
		{0, true, tcp(ap(hostZ, 1), ap(router, 80), syn, nil, ""), "filtered"},
	})
}

func TestAgesKeepTheOrderOfUse(t *testing.T) {
	a := ages{limits: (*Idle)(nil).limits(defaultOpening, defaultOpening), most: 9}
	first, second, third := a.add(0, packet.ProtocolUDP), a.add(1, packet.ProtocolUDP), a.add(2, packet.ProtocolUDP)
	a.use(3, second, 0, true)
	a.use(4, first, 0, true)
	a.use(-1e9, third, 0, true) // a stamp of the past, which is no earlier than what is known
	a.use(3, second, 0, true)
	a.use(4, first, 0, true)
	if a.expired(2+int64(defaultUDP), third) {
		t.Error("an early stamp made it older")
	}
	late := int64(defaultUDP) + 100
	var got []int32
	for i, ok := a.oldest(late); ok; i, ok = a.oldest(late) {
		got = append(got, i)
		a.remove(i)
	}
	if diff := cmp.Diff([]int32{third, second, first}, got); diff != "" || a.used != 0 {
		t.Error(diff, a.used)
	}
}

package middlebox

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// The options of a Linux SYN and of a Linux ACK that reports a hole.
var (
	synOptions = []byte{2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7}
	sackBlock  = []byte{0, 0, 0x0c, 0x00, 0, 0, 0x10, 0x00}
	ackOptions = append([]byte{1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 5, 10}, sackBlock...)
)

func TestTamper(t *testing.T) {
	from, to := ap(hostA, 4000), ap(hostZ, 80)
	nops := func(options []byte, start, end int) []byte {
		out := append([]byte(nil), options...)
		for i := start; i < end; i++ {
			out[i] = 1
		}
		return out
	}
	clamped := append([]byte(nil), synOptions...)
	clamped[2], clamped[3] = 1300>>8, 1300&0xff
	newer := []byte{2, 4, 5, 0xb4, 34, 2, 30, 4, 0, 1, 99, 2}
	const askECN = packet.FlagSYN | packet.FlagECE | packet.FlagCWR
	plain := tcp(from, to, ack, ackOptions, "data")
	for _, c := range []struct {
		name, config string
		in, want     []byte
		counts       Counts
	}{
		{"wscale of a SYN", "strip: wscale", tcp(from, to, syn, synOptions, ""), tcp(from, to, syn,
			nops(synOptions, 17, 20), ""), Counts{Stripped: 1}},
		{"SACK of a SYN", "strip: sack", tcp(from, to, syn, synOptions, ""), tcp(from, to, syn,
			nops(synOptions, 4, 6), ""), Counts{Stripped: 1}},
		{"SACK of an ACK", "strip: sack", plain, tcp(from, to, ack, nops(ackOptions, 14, 24), "data"),
			Counts{Stripped: 1}},
		{"timestamps of a SYN", "strip: timestamps", tcp(from, to, syn, synOptions, ""), tcp(from, to,
			syn, nops(synOptions, 6, 16), ""), Counts{Stripped: 1}},
		{"timestamps of an ACK", "strip: timestamps", plain, tcp(from, to, ack, nops(ackOptions, 2, 12),
			"data"), Counts{Stripped: 1}},
		{"unknown options", "strip: unknown", tcp(from, to, syn, newer, ""), tcp(from, to, syn,
			nops(newer, 4, 12), ""), Counts{Stripped: 1}},
		{"fast open", "strip: tfo", tcp(from, to, syn, newer, ""), tcp(from, to, syn, nops(newer, 4, 6),
			""), Counts{Stripped: 1}},
		{"MPTCP", "strip: mptcp", tcp(from, to, syn, newer, ""), tcp(from, to, syn, nops(newer, 6, 10),
			""), Counts{Stripped: 1}},
		{"nothing unknown", "strip: unknown", plain, plain, Counts{}},
		{"IPv6", "strip: wscale", tcp(ap(hostA6, 1), ap(hostZ6, 2), syn, synOptions, ""),
			tcp(ap(hostA6, 1), ap(hostZ6, 2), syn, nops(synOptions, 17, 20), ""), Counts{Stripped: 1}},
		{"MSS", "mss: 1300", tcp(from, to, syn, synOptions, ""), tcp(from, to, syn, clamped, ""), Counts{Clamped: 1}},
		{"MSS small enough", "mss: 1460", tcp(from, to, syn, synOptions, ""), tcp(from, to, syn,
			synOptions, ""), Counts{}},
		{"DSCP of all", "dscp: EF", plain, marked(plain, 46<<2), Counts{Remarked: 1}},
		{"DSCP by a table", "dscp: {EF: 0, default: CS1}", marked(plain, 46<<2|2), marked(plain, 2), Counts{Remarked: 1}},
		{"DSCP by default", "dscp: {EF: 0, default: CS1}", plain, marked(plain, 8<<2), Counts{Remarked: 1}},
		{"DSCP without a rule", "dscp: {EF: 0}", marked(plain, 40), marked(plain, 40), Counts{}},
		{"ECN bleached", "ecn: bleach", marked(plain, 46<<2|3), marked(plain, 46<<2), Counts{Bleached: 1}},
		{"ECN passed", "{ecn: pass, hidden: true}", marked(plain, 3), marked(plain, 3), Counts{}},
		{"ECN SYN dropped", "ecn: drop_syn", tcp(from, to, askECN, synOptions, ""), nil, Counts{ECNDropped: 1}},
		{"plain SYN kept", "ecn: drop_syn", tcp(from, to, syn, nil, ""), tcp(from, to, syn, nil, ""), Counts{}},
		{"answer to an ECN SYN kept", "ecn: drop_syn", tcp(from, to, synAck|packet.FlagECE, nil, ""),
			tcp(from, to, synAck|packet.FlagECE, nil, ""), Counts{}},
		{"answer with both flags kept", "ecn: drop_syn", tcp(from, to, askECN|packet.FlagACK, nil, ""),
			tcp(from, to, askECN|packet.FlagACK, nil, ""), Counts{}},
		{"ECT dropped", "ecn: drop_ect", marked(plain, 2), nil, Counts{ECNDropped: 1}},
		{"not ECT kept", "ecn: drop_ect", plain, plain, Counts{}},
		{"another packet", "{match: {port: 81}, dscp: EF, strip: sack, ecn: drop_ect}", marked(plain, 2),
			marked(plain, 2), Counts{}},
		{"the packet", "{match: {port: 80}, dscp: EF}", plain, marked(plain, 46<<2), Counts{Remarked: 1}},
	} {
		b := New(read(t, c.config), place, 1)
		got, _ := through(t, b, 0, c.in, insideNumber, outsideNumber)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.counts, b.Counts()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// Sequence numbers are shifted one way and acknowledgements back, so that the hosts agree; SACK blocks are forgotten.
func TestRandomizedSequence(t *testing.T) {
	for _, match := range []string{"{}", "{protocol: tcp}", "{port: 80}"} {
		t.Run(match, func(t *testing.T) {
			randomizedSequence(t, "{randomize_sequence: true, match: "+match+", nat: {outside: z}}")
		})
	}
}

func randomizedSequence(t *testing.T, config string) {
	b := New(read(t, config), place, 1)
	const sequence, acknowledgement = 20 + tcpSequence, 20 + tcpAcknowledgement
	sent := tcp(ap(hostA, 4000), ap(hostZ, 80), ack, nil, "data")
	wire, _ := through(t, b, 0, sent, insideNumber, outsideNumber)
	moved := be.Uint32(wire[sequence:])
	if moved == 1000 {
		t.Fatal("the sequence number was not shifted")
	}
	answer := tcp(ap(hostZ, 80), ap(router, 4000), ack, ackOptions, "")
	be.PutUint32(answer[acknowledgement:], moved+4)
	copy(answer[len(answer)-len(sackBlock):], sackBlock)
	be.PutUint16(answer[36:], 0)
	be.PutUint16(answer[36:], ^uint16(transportSum(answer, packet.ProtocolTCP, 20)))
	got, _ := through(t, b, 0, answer, outsideNumber, insideNumber)
	if acked := be.Uint32(got[acknowledgement:]); acked != 1004 {
		t.Errorf("acknowledged %d, want 1004", acked)
	}
	if diff := cmp.Diff(sackBlock, got[len(got)-len(sackBlock):]); diff != "" {
		t.Errorf("the blocks were changed, too: %s", diff)
	}
	// What a host inside complains about is what came to the router.
	quoted, cause := through(t, b, 0, errorAbout(t, hostA, got, packet.TooBigFor), insideNumber, outsideNumber)
	if diff := cmp.Diff(errorAbout(t, router, answer, packet.TooBigFor), quoted); diff != "" {
		t.Errorf("error from inside: %v %s", cause, diff)
	}
	// The router's own acknowledgement of what the host never saw shifted: the other direction's shift has to come off.
	back := tcp(ap(hostA, 4000), ap(hostZ, 80), ack, nil, "")
	copy(back[acknowledgement:], got[sequence:sequence+4])
	seen, _ := through(t, b, 0, back, insideNumber, outsideNumber)
	if acked := be.Uint32(seen[acknowledgement:]); acked != 1000 {
		t.Errorf("the peer sees %d acknowledged, want its own 1000", acked)
	}
	// An error quotes the number that the host knows, whether it has room for the checksum or not.
	for _, quoted := range [][]byte{wire, wire[:28]} {
		about := append([]byte(nil), quoted...)
		e := wrap(hostZ, router, packet.ProtocolICMP, append([]byte{3, 4, 0, 0, 0, 0, 5, 0}, about...))
		got, cause := through(t, b, 0, e, outsideNumber, insideNumber)
		inner, ok := packet.Quoted(got)
		if !ok || be.Uint32(inner[sequence:]) != 1000 {
			t.Errorf("%d bytes quoted: %v %x", len(quoted), cause, inner)
		}
		if diff := cmp.Diff(sent[20:len(quoted)], inner[20:]); diff != "" {
			t.Errorf("%d bytes quoted: not what was sent: %s", len(quoted), diff)
		}
	}
}

func TestICMPFilteredAndLimited(t *testing.T) {
	oneError := errorAbout(t, hostZ, syn1, packet.TooBigFor)
	filtered := New(read(t, "icmp: filtered"), place, 1)
	if got := in(t, filtered, 0, oneError); got != "filtered" {
		t.Errorf("an error: got %s", got)
	}
	if got := in(t, filtered, 0, echoPacket(hostZ, hostA, true, 1)); got != "icmp 10.0.9.2 > 10.0.0.1 id 1" {
		t.Errorf("an echo reply: got %s", got)
	}
	if !filtered.MayComplain(0) {
		t.Error("the router's own errors are filtered, too")
	}
	own := New(read(t, "icmp: {rate: 10/s, burst: 3}"), place, 1)
	transit := New(read(t, "icmp: {rate: 10/s, burst: 3, transit: true}"), place, 1)
	passed, carried := 0, 0
	for at := int64(0); at < 2*second; at += second / 100 { // 100 a second for two seconds, less the last
		if own.MayComplain(at) {
			passed++
		}
		if named(through(t, transit, at, oneError, outsideNumber, insideNumber)) != "filtered" {
			carried++
		}
	}
	// 3 at once, then one at each whole 100 ms after the first: 0.1 to 1.9 s.
	if passed != 3+19 || carried != 3+19 {
		t.Errorf("%d own and %d in transit passed, want 22", passed, carried)
	}
	if got := own.Counts().ICMPLimited; got != 200-22 {
		t.Errorf("%d limited, want 178", got)
	}
	if got := in(t, own, 0, oneError); got != "icmp 10.0.9.2 > 10.0.0.1" {
		t.Errorf("an error in transit: %s", got)
	}
	silent := New(read(t, "silent: true"), place, 1)
	if silent.MayComplain(0) || silent.Answers() {
		t.Error("a silent router shows itself")
	}
}

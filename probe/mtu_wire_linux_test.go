package probe

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// mtuWires are the packets of each protocol, over both families.
func mtuWires() map[string]mtuPackets {
	all := map[string]mtuPackets{}
	for family, ends := range map[string][2]string{"IPv4": {"192.0.2.1", "192.0.2.2"}, "IPv6": {"2001:db8::1", "2001:db8::2"}} {
		from, to := netip.MustParseAddr(ends[0]), netip.MustParseAddr(ends[1])
		all["icmp over "+family] = &mtuEchoes{&echoPackets{ipv6: to.Is6(), raw: true, ident: 7, token: []byte("8 bytes!")}, ipHeader(to)}
		all["stamp over "+family] = &mtuStamps{header: ipHeader(to) + udpHeader, session: 5}
		all["tcp over "+family] = &mtuSegments{from: netip.AddrPortFrom(from, 50000), to: netip.AddrPortFrom(to, 443), opens: []mtuOpening{{100_000, 7}}}
	}
	return all
}

// Packets are as large as they are to be, and an error counts for sure only where it quotes what nobody off the path can know.
func TestMTUPacketsQuoted(t *testing.T) {
	for name, packets := range mtuWires() {
		header := packets.least() - len(packets.request(0, packets.least()))
		for index, size := range []int{packets.least(), 1400, 1401, 1402, 1403, 9000} {
			if got := header + len(packets.request(index, size)); got != size {
				t.Errorf("%s: a packet of %d bytes, want %d", name, got, size)
			}
		}
		packet := bytes.Clone(packets.request(3, 1402))
		if index, ours, ok := packets.quoted(packet, 6); index != 3 || !ours || !ok {
			t.Errorf("%s: quoted whole it is packet %d, ours %v, %v; want 3", name, index, ours, ok)
		}
		if _, _, ok := packets.quoted(packet, 3); ok {
			t.Errorf("%s: an error about a packet that was not sent yet", name)
		}
		if _, ours, _ := packets.quoted(packet[:7], 6); ours {
			t.Errorf("%s: 7 bytes are taken for ours", name)
		}
		forged := bytes.Clone(packet)
		for at := range forged[:20] {
			forged[at] ^= 0x55
		}
		if _, ours, ok := packets.quoted(forged, 6); ours && ok {
			t.Errorf("%s: a forged quote is taken for ours", name)
		}
		if _, ok := packets.answered(forged, netip.MustParseAddr("192.0.2.9"), 6); ok {
			t.Errorf("%s: a forged answer counts", name)
		}
	}
}

// A far end that names the bytes of a copy answers the segment that brought them; any other acknowledgement answers none.
func TestMTUSegmentsAnswered(t *testing.T) {
	packets := mtuWires()["tcp over IPv4"].(*mtuSegments)
	for index := range 3 {
		packets.request(index, 1400)
	}
	answer := func(left, right uint32) []byte {
		p := make([]byte, segmentHeader, 40)
		binary.BigEndian.PutUint16(p, 443)
		binary.BigEndian.PutUint16(p[2:], 50000)
		p[12], p[13] = 8<<4, flagACK // 8 words
		p = append(p, 1, 1, optionBlocks, 10)
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(p, left), right)
	}
	type outcome struct {
		Index int
		OK    bool
	}
	for name, c := range map[string]struct {
		packet []byte
		from   string
		want   outcome
	}{
		"the second":                {answer(99_998-1360, 99_998), "192.0.2.2", outcome{1, true}},
		"of another host":           {answer(99_998-1360, 99_998), "192.0.2.3", outcome{}},
		"a part of it":              {answer(99_998-1300, 99_998), "192.0.2.2", outcome{}},
		"one that was not sent":     {answer(99_990-1360, 99_990), "192.0.2.2", outcome{}},
		"bytes of the stream":       {answer(200_000, 201_360), "192.0.2.2", outcome{}},
		"no bytes":                  {answer(99_998-1360, 99_998)[:segmentHeader], "192.0.2.2", outcome{}},
		"an option that is cut off": {answer(99_998-1360, 99_998)[:segmentHeader+5], "192.0.2.2", outcome{}},
	} {
		index, ok := packets.answered(c.packet, netip.MustParseAddr(c.from), 3)
		if !ok {
			index = 0
		}
		if d := cmp.Diff(c.want, outcome{index, ok}); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// An answer by STAMP counts for the way back only where it is as long as it was to be, and tells a reflector that obeys from one that does not.
func TestMTUStampsAnswered(t *testing.T) {
	for _, c := range []struct {
		back, bytes int
		obeyed, ok  bool
	}{
		{0, stampShort, true, true},
		{0, 1400 - 28, false, true}, // a reflector that knows no Control
		{1400, 1000 - 28, false, true},
		{1400, 1400 - 28, false, false},
		{1400, stampShort, false, false},
	} {
		m := &mtuStamps{header: 28, session: 5, back: c.back}
		size := 1400
		if c.back > 0 {
			size = 1000
		}
		m.request(0, size)
		packet := make([]byte, c.bytes)
		stamp.Answer{Probe: stamp.Probe{Session: 5, Sent: m.sent[0]}}.Put(packet)
		if _, ok := m.answered(packet, netip.Addr{}, 1); ok != c.ok || m.obeyed != c.obeyed {
			t.Errorf("back %d, answered with %d bytes: counts %v, obeyed %v, want %v and %v", c.back, c.bytes, ok, m.obeyed, c.ok, c.obeyed)
		}
		stamp.Answer{Probe: stamp.Probe{Session: 5, Sent: m.sent[0] + control.Timestamp(1)}}.Put(packet)
		if _, ok := m.answered(packet, netip.Addr{}, 1); ok {
			t.Errorf("back %d: an answer to another's packet counts", c.back)
		}
	}
}

// Whatever comes, nothing but an answer counts.
func FuzzMTUPackets(f *testing.F) {
	for _, packets := range mtuWires() {
		f.Add(packets.request(0, 1400))
	}
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, flagACK, 0, 0, 0, 0, 0, 0, optionBlocks, 10, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, packets := range mtuWires() {
			if index, ok := packets.answered(b, netip.MustParseAddr("192.0.2.2"), 0); ok {
				t.Errorf("%s: answers packet %d of none", name, index)
			}
			if index, _, ok := packets.quoted(b, 0); ok {
				t.Errorf("%s: quotes packet %d of none", name, index)
			}
		}
	})
}

package probe

import (
	"net/netip"
	"testing"

	"github.com/pathwise-net/pathwise/proto/icmp"
)

// leftOfSum is what the checksum of a segment leaves: 0 where it is right (RFC 1071).
func leftOfSum(p []byte, from, to netip.Addr) uint16 {
	pseudo := append(append(from.AsSlice(), to.AsSlice()...), 0, 0, 0, byte(len(p)), 0, 0, 0, 6)
	return icmp.Checksum(append(pseudo, p...))
}

// A segment is read back as it was written, and its checksum is right: a SYN with an MSS, and one with other options and data of an odd length.
func TestSegment(t *testing.T) {
	from, to := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	s := segment{from: 40000, to: 443, seq: 0x01020304, ack: 0x05060708, flags: flagSYN}
	p := s.marshal(from, to)
	long := s.marshalWith([]byte{1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8}, []byte("odd"), from, to)
	for text, p := range map[string][]byte{"": p, "odd": long} {
		if sum := leftOfSum(p, from, to); sum != 0 {
			t.Errorf("checksum of % x leaves %04x", p, sum)
		}
		if got, ok := parseSegment(p); !ok || got != s {
			t.Errorf("read back as %+v", got)
		}
		if data, ok := segmentData(p); !ok || string(data) != text {
			t.Errorf("data %q, %v, want %q", data, ok, text)
		}
	}
	if data, ok := segmentData(long[:segmentHeader+11]); ok {
		t.Errorf("data %q behind a header that is cut off", data)
	}
	if got, ok := parseSegment(p[:8]); !ok || got != (segment{from: 40000, to: 443, seq: 0x01020304}) {
		t.Errorf("quoted by an ICMP error: %+v %v", got, ok)
	}
	if _, ok := parseSegment(p[:7]); ok {
		t.Error("seven bytes are no segment")
	}
}

// Which SYN a segment speaks of: by its ports, its flags and its number, which may come round.
func TestSYNAnswers(t *testing.T) {
	s := &synPackets{from: netip.MustParseAddrPort("192.0.2.1:40000"), to: netip.MustParseAddrPort("192.0.2.2:443"), base: 0xfffffffe}
	answer := func(a segment) []byte { return a.marshal(s.to.Addr(), s.from.Addr()) }
	for name, c := range map[string]struct {
		answer segment
		want   int // -1: none
	}{
		"accepted":         {segment{443, 40000, 9, 0xffffffff, flagSYN | flagACK}, 0},
		"refused":          {segment{443, 40000, 0, 0xffffffff, flagRST | flagACK}, 0},
		"the next":         {segment{443, 40000, 9, 0, flagSYN | flagACK}, 1},
		"come round":       {segment{443, 40000, 9, 1, flagSYN | flagACK}, 2},
		"not sent yet":     {segment{443, 40000, 9, 2, flagSYN | flagACK}, -1},
		"before the first": {segment{443, 40000, 9, 0xfffffffe, flagSYN | flagACK}, -1},
		"another port":     {segment{80, 40000, 9, 0, flagSYN | flagACK}, -1},
		"to another":       {segment{443, 40001, 9, 0, flagSYN | flagACK}, -1},
		"data":             {segment{443, 40000, 9, 0, flagACK}, -1},
		"a SYN of its own": {segment{443, 40000, 9, 0, flagSYN}, -1},
	} {
		index, ok := s.answered(answer(c.answer), s.to.Addr(), 3)
		if ok != (c.want >= 0) || ok && index != c.want {
			t.Errorf("%s: request %d, %v; want %d", name, index, ok, c.want)
		}
	}
	accepted := answer(segment{443, 40000, 9, 0xffffffff, flagSYN | flagACK})
	if index, ok := s.answered(accepted, netip.MustParseAddr("192.0.2.3"), 3); ok {
		t.Errorf("an answer from another address is to request %d", index)
	}
	if index, ok := s.quoted(s.request(1, 0)[:8], 3); !ok || index != 1 {
		t.Errorf("an ICMP error quotes request %d, %v; want 1", index, ok)
	}
}

func FuzzSegment(f *testing.F) {
	s := &synPackets{from: netip.MustParseAddrPort("192.0.2.1:40000"), to: netip.MustParseAddrPort("192.0.2.2:443")}
	f.Add(s.request(0, 0))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		answered := func(p []byte, sent int) (int, bool) { return s.answered(p, s.to.Addr(), sent) }
		for _, find := range []func([]byte, int) (int, bool){answered, s.quoted} {
			if index, ok := find(p, 3); ok && (index < 0 || index >= 3) {
				t.Errorf("request %d of 3", index)
			}
		}
	})
}

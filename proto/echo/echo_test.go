package echo

import (
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whole packets, byte by byte. Both checksums of IPv4 add up by RFC 1071.
func TestMessage(t *testing.T) {
	for _, c := range []struct {
		name   string
		ipv6   bool
		m      Message
		packet string
	}{
		{"IPv4 request", false, Message{Ident: 7, Sequence: 1, Payload: []byte{}}, "0800f7f700070001"},
		{"IPv4 reply, odd payload", false, Message{Reply: true, Ident: 0xffff, Sequence: 0xfffe, Payload: []byte("abc")}, "00003b9efffffffe616263"},
		{"IPv6 request: the kernel adds the checksum", true, Message{Ident: 7, Sequence: 2, Payload: []byte("x")}, "800000000007000278"},
		{"IPv6 reply", true, Message{Reply: true, Ident: 1, Sequence: 3, Payload: []byte{}}, "8100000000010003"},
	} {
		if got := hex.EncodeToString(c.m.Append(nil, c.ipv6)); got != c.packet {
			t.Errorf("%s: %s, want %s", c.name, got, c.packet)
		}
		packet, _ := hex.DecodeString(c.packet)
		m, ok := Parse(packet, c.ipv6)
		if diff := cmp.Diff(c.m, m); diff != "" || !ok {
			t.Errorf("%s: parsed %v (-want +got):\n%s", c.name, ok, diff)
		}
		if _, ok := Parse(packet, !c.ipv6); ok {
			t.Errorf("%s: parsed as of the other family", c.name)
		}
		if !c.ipv6 && checksum(packet) != 0 {
			t.Errorf("%s: its checksum does not add up", c.name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, packet := range map[string]string{
		"nothing": "", "cut short": "0800f7f7000700", "another type": "0300f7f700070001", "a code": "0801f7f700070001",
	} {
		b, _ := hex.DecodeString(packet)
		if m, ok := Parse(b, false); ok {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestMark(t *testing.T) {
	want := Mark{Token: 0x0102030405060708, Place: 0x10111213, Sequence: 0x20212223}
	payload := make([]byte, 20)
	want.Put(payload)
	if got := hex.EncodeToString(payload); got != "0102030405060708101112132021222300000000" {
		t.Errorf("payload %s", got)
	}
	if got, ok := MarkOf(payload); got != want || !ok {
		t.Errorf("%+v, %v", got, ok)
	}
	if _, ok := MarkOf(payload[:MarkBytes-1]); ok {
		t.Error("a mark in 15 bytes")
	}
}

func FuzzParse(f *testing.F) {
	for _, m := range []Message{{}, {Reply: true, Ident: 9, Sequence: 300, Payload: []byte("0123456789abcdef")}} {
		f.Add(m.Append(nil, false), false)
		f.Add(m.Append(nil, true), true)
	}
	f.Fuzz(func(t *testing.T, packet []byte, ipv6 bool) {
		m, ok := Parse(packet, ipv6)
		if !ok {
			return
		}
		again, ok := Parse(m.Append(nil, ipv6), ipv6)
		if diff := cmp.Diff(m, again); diff != "" || !ok {
			t.Errorf("%v; parsed again (-first +again):\n%s", ok, diff)
		}
		if mark, ok := MarkOf(m.Payload); ok {
			payload := append([]byte(nil), m.Payload...)
			mark.Put(payload)
			if string(payload) != string(m.Payload) {
				t.Errorf("payload % x; its mark again % x", m.Payload, payload)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	m := Message{Payload: make([]byte, defaultSize)}
	packet := []byte{}
	for b.Loop() {
		packet = m.Append(packet[:0], false)
	}
}

package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
)

// This file builds and checks packets in the plainest way, byte by byte, so that it shares nothing with what it tests.

var (
	left4, right4 = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.2.2")
	left6, right6 = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8:0:2::2")
)

// plainSum adds big-endian words and folds at the end.
func plainSum(parts ...[]byte) uint16 {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	if len(all)%2 == 1 {
		all = append(all, 0)
	}
	var total uint64
	for i := 0; i < len(all); i += 2 {
		total += uint64(all[i])<<8 | uint64(all[i+1])
	}
	for total > 0xffff {
		total = total>>16 + total&0xffff
	}
	return uint16(total)
}

// plainPseudo is the pseudo-header as bytes.
func plainPseudo(source, target netip.Addr, protocol byte, length int) []byte {
	b := append(source.AsSlice(), target.AsSlice()...)
	b = binary.BigEndian.AppendUint32(b, uint32(length))
	return binary.BigEndian.AppendUint32(b, uint32(protocol))
}

// ip puts an IP header before a transport part, without any transport checksum. Options are IPv4 options or IPv6
// extension headers; of the latter the first is of kind first, and the last must name the protocol.
func ip(source, target netip.Addr, protocol byte, options []byte, first byte, transport []byte) []byte {
	var b []byte
	if source.Is4() {
		total := 20 + len(options) + len(transport)
		b = []byte{0x45 + byte(len(options)/4), 0, byte(total >> 8), byte(total), 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0}
		b = append(append(b, source.AsSlice()...), target.AsSlice()...)
		b = append(b, options...)
		binary.BigEndian.PutUint16(b[10:], ^plainSum(b))
	} else {
		next := protocol
		if len(options) > 0 {
			next = first
		}
		length := len(options) + len(transport)
		b = []byte{0x60, 0, 0, 7, byte(length >> 8), byte(length), next, 64}
		b = append(append(b, source.AsSlice()...), target.AsSlice()...)
		b = append(b, options...)
	}
	return append(b, transport...)
}

// tcp is a TCP header with options and payload.
func tcp(flags byte, options, payload []byte) []byte {
	b := []byte{0x14, 0x51, 0x9c, 0x40, 0xff, 0xff, 0xff, 0x00, 1, 2, 3, 4, byte(5+len(options)/4) << 4, flags,
		0xff, 0xff, 0, 0, 0, 0}
	return append(append(b, options...), payload...)
}

func udp(payload []byte) []byte {
	length := 8 + len(payload)
	return append([]byte{0x14, 0x51, 0x9c, 0x40, byte(length >> 8), byte(length), 0, 0}, payload...)
}

func icmp(typ, code byte, rest uint32, payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{typ, code, 0, 0}, rest), payload...)
}

// sealed writes the transport checksum of a packet whose transport part begins at at.
func sealed(b []byte, at int) []byte {
	field, pseudo, udp := transportParts(b, at)
	if field < 0 {
		return b
	}
	check := ^plainSum(pseudo, b[at:])
	if udp && check == 0 {
		check = 0xffff
	}
	binary.BigEndian.PutUint16(b[at+field:], check)
	return b
}

func transportParts(b []byte, at int) (field int, pseudo []byte, isUDP bool) {
	protocol, _ := Transport(b)
	pseudo = plainPseudo(Source(b), Target(b), protocol, len(b)-at)
	switch protocol {
	case 6:
		return 16, pseudo, false
	case 17:
		return 6, pseudo, true
	case 1:
		return 2, nil, false
	case 58:
		return 2, pseudo, false
	}
	return -1, nil, false
}

// verifies tells whether all checksums and lengths of a packet are right, as a receiver would.
func verifies(b []byte) bool {
	if b[0]>>4 == 4 {
		if int(binary.BigEndian.Uint16(b[2:])) != len(b) || plainSum(b[:b[0]&15*4]) != 0xffff {
			return false
		}
	} else if int(binary.BigEndian.Uint16(b[4:]))+40 != len(b) {
		return false
	}
	protocol, at := Transport(b)
	field, pseudo, isUDP := transportParts(b, at)
	if protocol == 17 && int(binary.BigEndian.Uint16(b[at+4:])) != len(b)-at {
		return false
	}
	if isUDP && b[0]>>4 == 4 && binary.BigEndian.Uint16(b[at+field:]) == 0 {
		return true
	}
	return field < 0 || plainSum(pseudo, b[at:]) == 0xffff
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b[:n]
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(3, 1)) }

// packetOf is a packet of its own of the bytes.
func packetOf(o *Pool, b []byte) *Packet {
	p := o.Get(len(b))
	copy(p.Data, b)
	return p
}

// leftUndone makes the checksum of a packet partial, as a host with offload does.
func leftUndone(p *Packet, at int) {
	field, pseudo, _ := transportParts(p.Data, at)
	binary.BigEndian.PutUint16(p.Data[at+field:], plainSum(pseudo))
	p.VNet.NeedsChecksum, p.VNet.ChecksumStart, p.VNet.ChecksumOffset = true, uint16(at), uint16(field)
}

// timestamps are the options that Linux sends with data.
var timestamps = []byte{1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}

// synOptions are those of Linux's SYN: MSS 1460, SACK permitted, timestamps, NOP, window scale 7.
var synOptions = []byte{2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7}

type sample struct {
	name string
	data []byte
	at   int
}

// samples are packets of all kinds, right in every checksum.
func samples() []sample {
	r := newRand()
	var list []sample
	add := func(name string, at int, b []byte) { list = append(list, sample{name, sealed(b, at), at}) }
	payload := random(r, 101)
	// Router alert in IPv4; hop-by-hop options and destination options in IPv6.
	alert, extensions := []byte{0x94, 4, 0, 0}, []byte{60, 0, 5, 2, 0, 0, 1, 0, 6, 0, 1, 4, 0, 0, 0, 0}
	for _, family := range []struct {
		name        string
		left, right netip.Addr
		header      int
		echo, error byte
		icmp        byte
	}{{"4", left4, right4, 20, 8, 11, 1}, {"6", left6, right6, 40, 128, 3, 58}} {
		l, n, h := family.left, family.right, family.header
		add("tcp"+family.name, h, ip(l, n, 6, nil, 0, tcp(FlagACK|FlagPSH, timestamps, payload)))
		add("syn"+family.name, h, ip(l, n, 6, nil, 0, tcp(FlagSYN, synOptions, nil)))
		add("udp"+family.name, h, ip(l, n, 17, nil, 0, udp(payload)))
		add("echo"+family.name, h, ip(l, n, family.icmp, nil, 0, icmp(family.echo, 0, 0x00070001, payload)))
		inner := sealed(ip(n, l, 17, nil, 0, udp(payload)), h)
		add("error"+family.name, h, ip(l, n, family.icmp, nil, 0, icmp(family.error, 0, 0, inner)))
		add("gre"+family.name, h, ip(l, n, 47, nil, 0, payload))
	}
	add("options4", 24, ip(left4, right4, 6, alert, 0, tcp(FlagACK, timestamps, payload)))
	add("extensions6", 56, ip(left6, right6, 6, extensions, 0, tcp(FlagACK, timestamps, payload)))
	return list
}

func TestSamplesVerify(t *testing.T) {
	for _, s := range samples() {
		if !verifies(s.data) {
			t.Errorf("%s: the sample itself is wrong", s.name)
		}
		if _, at := Transport(s.data); at != s.at {
			t.Errorf("%s: transport header at %d, want %d", s.name, at, s.at)
		}
		if whole, ok := Whole(append(bytes.Clone(s.data), 0, 0, 0)); !ok || !bytes.Equal(whole, s.data) {
			t.Errorf("%s: Whole does not cut the padding", s.name)
		}
		if _, ok := Whole(s.data[:len(s.data)-1]); ok {
			t.Errorf("%s: Whole takes a part for the whole", s.name)
		}
	}
}

package probe

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

// echo is an ICMP echo request or reply (RFC 792 page 14, RFC 4443 section 4):
//
//	| type : 8 | code : 8 | checksum : 16 |
//	| identifier : 16     | sequence : 16 |
//	| payload …
//
// The payload of a request of ours begins with a token, by which a reply to us is told from one to another process that
// happened to choose our identifier, and with the index of the request, since at 10 µs the sequence number comes round after 0.66 s:
//
//	| token : 64 | index : 32 | 0 …
type echo struct {
	reply    bool
	ident    uint16
	sequence uint16
	payload  []byte
}

const (
	echoHeader   = 8
	echoRequest4 = 8
	echoReply4   = 0
	echoRequest6 = 128
	echoReply6   = 129
)

// marshal encodes e. The checksum of ICMPv6 covers addresses as well and is left to the kernel.
func (e echo) marshal(ipv6 bool) []byte {
	packet := make([]byte, echoHeader, echoHeader+len(e.payload))
	switch {
	case ipv6 && e.reply:
		packet[0] = echoReply6
	case ipv6:
		packet[0] = echoRequest6
	case !e.reply:
		packet[0] = echoRequest4
	}
	binary.BigEndian.PutUint16(packet[4:], e.ident)
	binary.BigEndian.PutUint16(packet[6:], e.sequence)
	packet = append(packet, e.payload...)
	if !ipv6 {
		binary.BigEndian.PutUint16(packet[2:], icmp.Checksum(packet))
	}
	return packet
}

// parseEcho decodes an echo request or reply, whole or only its header as ICMP errors quote it; ok is false for
// anything else. The payload is part of packet. Checksums are for the kernel to verify.
func parseEcho(packet []byte, ipv6 bool) (e echo, ok bool) {
	if len(packet) < echoHeader || packet[1] != 0 {
		return echo{}, false
	}
	request, reply := uint8(echoRequest4), uint8(echoReply4)
	if ipv6 {
		request, reply = echoRequest6, echoReply6
	}
	if packet[0] != request && packet[0] != reply {
		return echo{}, false
	}
	return echo{reply: packet[0] == reply, ident: binary.BigEndian.Uint16(packet[4:]),
		sequence: binary.BigEndian.Uint16(packet[6:]), payload: packet[echoHeader:]}, true
}

// echoPackets are ICMP echoes. A reply counts from whatever address it comes: a host with several may answer from another.
type echoPackets struct {
	ipv6, raw bool
	ident     uint16 // of raw sockets; the kernel gives datagram sockets one of its own
	token     []byte // the first bytes of every payload
}

const (
	tokenSize = 8
	indexSize = 4
	// indexedSize is the least payload that has room for token and index. A shorter one has only what it has room for.
	indexedSize = tokenSize + indexSize
)

func newEchoPackets(p Ping, socket *sock.Socket, target netip.Addr) *echoPackets {
	return &echoPackets{ipv6: target.Is6(), raw: socket.Raw(), ident: socket.Ident(), token: p.token()}
}

func (e *echoPackets) request(index, size int) []byte {
	payload := make([]byte, size)
	putIndex(payload, e.token, index)
	return echo{ident: e.ident, sequence: uint16(index + 1), payload: payload}.marshal(e.ipv6)
}

func (e *echoPackets) answered(packet []byte, _ netip.Addr, sent int) (index int, ok bool) {
	reply, ok := parseEcho(packet, e.ipv6)
	if !ok || !reply.reply || e.raw && reply.ident != e.ident {
		return 0, false
	}
	carried := e.token[:min(len(e.token), len(reply.payload))]
	if len(carried) == 0 || !bytes.HasPrefix(reply.payload, carried) {
		return 0, false
	}
	return e.index(reply, sent)
}

func (e *echoPackets) quoted(packet []byte, sent int) (index int, ok bool) {
	request, ok := parseEcho(packet, e.ipv6)
	if !ok || request.reply || e.raw && request.ident != e.ident {
		return 0, false
	}
	return e.index(request, sent)
}

// index is which request an echo is of, or is the answer to: as its payload says where that has the index, else by its sequence number.
func (e *echoPackets) index(of echo, sent int) (index int, ok bool) {
	if index, ok = readIndex(of.payload, e.token); !ok {
		return sequenceIndex(of.sequence, sent)
	}
	return index, index < sent && of.sequence == uint16(index+1)
}

// quotes says that so many bytes of a payload are quoted. Zeros are not: a router that quotes less fills its quote up with them before extensions (RFC 4884, 3), and
// payloads begin with a random token.
func quotes(payload []byte, n int) bool {
	return len(payload) >= n && slices.ContainsFunc(payload[:n], func(b byte) bool { return b != 0 })
}

// token is what tells the requests of a run from those of others.
func (p Ping) token() []byte { return binary.BigEndian.AppendUint64(nil, p.Rand.Uint64()) }

// putIndex writes token and index to the beginning of a payload, as far as it has room for them.
func putIndex(payload, token []byte, index int) {
	copy(payload, token)
	if len(payload) >= indexedSize {
		binary.BigEndian.PutUint32(payload[tokenSize:], uint32(index))
	}
}

// readIndex is the index in a payload; ok is false of one without, or with another token.
func readIndex(payload, token []byte) (index int, ok bool) {
	if len(payload) < indexedSize || len(token) != tokenSize || !bytes.HasPrefix(payload, token) {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(payload[tokenSize:])), true
}

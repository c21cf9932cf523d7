package probe

import (
	"encoding/binary"
	"net/netip"

	"github.com/pathwise-net/pathwise/sock"
)

// echoPackets are ICMP echoes. A reply counts from whatever address it comes: a host with several may answer from another.
type echoPackets struct {
	ipv6, raw bool
	ident     uint16 // of raw sockets; the kernel gives datagram sockets one of its own
	token     []byte // the first bytes of every payload
	size      int    // of the payload, in bytes
}

const tokenSize = 8

func newEchoPackets(p Ping, socket *sock.Socket, target netip.Addr) *echoPackets {
	token := binary.BigEndian.AppendUint64(nil, p.Rand.Uint64())
	return &echoPackets{ipv6: target.Is6(), raw: socket.Raw(), ident: socket.Ident(), token: token[:min(tokenSize, p.Size)], size: p.Size}
}

func (e *echoPackets) request(index int) []byte {
	payload := make([]byte, e.size)
	copy(payload, e.token)
	return echo{ident: e.ident, sequence: uint16(index + 1), payload: payload}.marshal(e.ipv6)
}

func (e *echoPackets) answered(packet []byte, _ netip.Addr, sent int) (index int, ok bool) {
	reply, ok := parseEcho(packet, e.ipv6)
	if !ok || !reply.reply || e.raw && reply.ident != e.ident {
		return 0, false
	}
	if len(reply.payload) < len(e.token) || string(reply.payload[:len(e.token)]) != string(e.token) {
		return 0, false
	}
	return sequenceIndex(reply.sequence, sent)
}

func (e *echoPackets) quoted(packet []byte, sent int) (index int, ok bool) {
	request, ok := parseEcho(packet, e.ipv6)
	if !ok || request.reply || e.raw && request.ident != e.ident {
		return 0, false
	}
	return sequenceIndex(request.sequence, sent)
}

// Package icmp decodes ICMP errors of IPv4 and IPv6: what is wrong (RFC 792, RFC 1812, RFC 4443), the beginning of the packet that the
// error is about, and the extensions behind that (RFC 4884): MPLS label stacks (RFC 4950) and interfaces (RFC 5837). It is a codec: it
// opens no socket, sends nothing and knows nothing of who asked. It never trusts a length, and no input makes it panic.
package icmp

import (
	"encoding/binary"
	"errors"
)

// An ICMP error, by byte. What stands in the second word depends on the type:
//
//	  +--------+--------+--------+--------+
//	0 |  type  |  code  |    checksum     |
//	4 |   0    | length |  MTU            |   IPv4: quote in words of 4 bytes (RFC 4884, 4.1 to 4.3); MTU: type 3 code 4 (RFC 1191, 4)
//	4 | length |            0             |   IPv6, types 1 and 3: quote in words of 8 bytes (RFC 4884, 4.4 and 4.5)
//	4 |                MTU                |   IPv6, type 2
//	  +--------+--------+--------+--------+
//	8 | the packet that the error is about, filled up with zeros
//	  +--------+--------+--------+--------+
//	  | extensions, if any
const (
	header    = 8
	length4At = 5
	length6At = 4
	word4     = 4
	word6     = 8
)

// Types of ICMP errors (RFC 792, RFC 4443).
const (
	Unreachable4  = 3
	Exceeded4     = 11
	BadParameter4 = 12

	Unreachable6  = 1
	TooBig6       = 2
	Exceeded6     = 3
	BadParameter6 = 4
)

// Codes of unreachable that a reader of this package asks for.
const (
	codePort4   = 3
	codeTooBig4 = 4
	codePort6   = 4
)

// Error is an ICMP error.
type Error struct {
	IPv6       bool
	Type, Code uint8
	MTU        int // bytes, of the next link, where the error tells it; else 0
	Quote      Quote
	Extensions Extensions
}

var (
	errShort    = errors.New("ICMP message is shorter than its header")
	errNoError  = errors.New("ICMP message is no error")
	errChecksum = errors.New("checksum of ICMP message is wrong")
)

// Parse decodes an ICMP error from its ICMP header on. It holds an ICMP message of IPv4 to its checksum; that of ICMPv6 covers the
// addresses of the IP header, too, and is the kernel's to check. The error says why b is no ICMP error, or quotes no packet.
func Parse(b []byte, ipv6 bool) (Error, error) {
	if len(b) < header {
		return Error{}, errShort
	}
	e := Error{IPv6: ipv6, Type: b[0], Code: b[1]}
	switch {
	case !e.isError():
		return Error{}, errNoError
	case !ipv6 && Checksum(b) != 0:
		return Error{}, errChecksum
	}
	switch {
	case ipv6 && e.Type == TooBig6:
		e.MTU = int(binary.BigEndian.Uint32(b[4:]))
	case !ipv6 && e.Type == Unreachable4 && e.Code == codeTooBig4:
		e.MTU = int(binary.BigEndian.Uint16(b[6:]))
	}
	quoted, behind := e.split(b)
	var err error
	if e.Quote, err = ParseQuote(quoted); err != nil {
		return Error{}, err
	}
	e.Extensions = ParseExtensions(behind)
	return e, nil
}

func (e Error) isError() bool {
	if e.IPv6 {
		return e.Type >= Unreachable6 && e.Type <= BadParameter6
	}
	return e.Type == Unreachable4 || e.Type == Exceeded4 || e.Type == BadParameter4
}

// oldQuote is where routers put extensions before RFC 4884 gave the quote a length: they filled it up to 128 bytes (RFC 4884, 5.5).
const oldQuote = 128

// split parts what follows the header into the quote and the extensions. Where the error says no length, what stands behind 128 bytes
// is taken for extensions only if it has their version and their checksum, as RFC 4884 section 5.5 wants it.
func (e Error) split(b []byte) (quoted, behind []byte) {
	body, length := b[header:], 0
	switch {
	case !e.IPv6:
		length = int(b[length4At]) * word4
	case e.Type == Unreachable6 || e.Type == Exceeded6:
		length = int(b[length6At]) * word6
	}
	switch {
	case length > 0 && length <= len(body):
		return body[:length], body[length:]
	case length == 0 && len(body) >= oldQuote+extensionHeader && sealed(body[oldQuote:]):
		return body[:oldQuote], body[oldQuote:]
	}
	return body, nil
}

// OldExtensions are those of a router from before RFC 4884, out of a quote whose first so many bytes are not in b, since the kernel keeps
// them from its sockets' error queues.
func OldExtensions(b []byte, before int) Extensions {
	if at := oldQuote - before; at >= 0 && len(b) >= at && sealed(b[at:]) {
		return ParseExtensions(b[at:])
	}
	return Extensions{}
}

// Expired says whether the error is a TTL that ran out on the way.
func (e Error) Expired() bool {
	if e.IPv6 {
		return e.Type == Exceeded6 && e.Code == 0
	}
	return e.Type == Exceeded4 && e.Code == 0
}

// PortClosed says whether the error is of a host at whose port nobody listens.
func (e Error) PortClosed() bool {
	if e.IPv6 {
		return e.Type == Unreachable6 && e.Code == codePort6
	}
	return e.Type == Unreachable4 && e.Code == codePort4
}

// Checksum is the Internet checksum (RFC 1071) of b; it is 0 of bytes that hold their own right one.
func Checksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
		sum = sum>>16 + sum&0xffff
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

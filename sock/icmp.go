package sock

import (
	"fmt"
	"net/netip"
)

// ICMPError is what a router or host said about a packet of ours (RFC 792, RFC 4443).
type ICMPError struct {
	IPv6       bool
	Type, Code uint8
	Offender   netip.Addr     // who said it
	To         netip.AddrPort // where our packet was going; for ICMP sockets the port is 0
	Quoted     []byte         // of our packet as it came back: ICMP sockets from the ICMP header on, UDP its payload
	Extensions []byte         // behind the quote, from their header on: see HearExtensions
	MTU        int            // bytes, when Reason is TooBig
	TTL        int            // of the ICMP packet on arrival; 0 when not known
	At         Stamp          // when it came
}

// Reason is the meaning of an ICMP error, the same for IPv4 and IPv6. Its text is for people.
type Reason string

// What an ICMP error can mean. Other types and codes become a Reason that names their numbers.
const (
	TimeExceeded        Reason = "time exceeded" // the TTL ran out on the way
	NetUnreachable      Reason = "network unreachable"
	HostUnreachable     Reason = "host unreachable"
	ProtocolUnreachable Reason = "protocol unreachable"
	PortUnreachable     Reason = "port unreachable" // the packet reached a host where nobody listens
	TooBig              Reason = "packet too big"
	Prohibited          Reason = "administratively prohibited"
)

type icmpCode struct {
	v6         bool
	kind, code uint8
}

var reasons = map[icmpCode]Reason{
	{false, 3, 0}: NetUnreachable, {false, 3, 6}: NetUnreachable,
	{false, 3, 1}: HostUnreachable, {false, 3, 7}: HostUnreachable,
	{false, 3, 2}: ProtocolUnreachable,
	{false, 3, 3}: PortUnreachable,
	{false, 3, 4}: TooBig,
	{false, 3, 9}: Prohibited, {false, 3, 10}: Prohibited, {false, 3, 13}: Prohibited,
	{false, 11, 0}: TimeExceeded,
	{true, 1, 0}:   NetUnreachable,
	{true, 1, 1}:   Prohibited, {true, 1, 5}: Prohibited,
	{true, 1, 3}: HostUnreachable,
	{true, 1, 4}: PortUnreachable,
	{true, 2, 0}: TooBig,
	{true, 3, 0}: TimeExceeded,
	{true, 4, 1}: ProtocolUnreachable,
}

// Reason says what the error means.
func (e ICMPError) Reason() Reason {
	if reason, ok := reasons[icmpCode{e.IPv6, e.Type, e.Code}]; ok {
		return reason
	}
	return Reason(fmt.Sprintf("ICMP type %d code %d", e.Type, e.Code))
}

package packet

import (
	"fmt"
	"strings"
)

// describe says in one line what a packet is, with the bytes behind its transport header:
//
//	tcp 10.0.0.1:5201 > 10.0.2.2:40000 1448 bytes
//	tcp 10.0.0.1:5201 > 10.0.2.2:40000 SYN 0 bytes
//	icmp 10.0.0.1 > 10.0.2.2 id 7 echo request 56 bytes
//	icmp 10.0.0.2 > 10.0.0.1 time exceeded about udp 10.0.0.1:4000 > 10.0.2.2:33434
//	udp 10.0.0.1 > 10.0.2.2 fragment at 1480 520 bytes
func describe(b []byte) string {
	if inner, ok := Quoted(b); ok {
		return fmt.Sprintf("%v %s about %v", KeyOf(b), icmpName(b), KeyOf(inner))
	}
	text := KeyOf(b).String()
	for _, more := range []string{fragmentName(b), flagNames(b), icmpName(b)} {
		if more != "" {
			text += " " + more
		}
	}
	return fmt.Sprintf("%s %d bytes", text, len(b)-behind(b))
}

// flagNames names the flags that begin and end connections.
func flagNames(b []byte) string {
	flags, ok := TCPFlags(b)
	if !ok {
		return ""
	}
	var names []string
	for _, f := range []struct {
		flag byte
		name string
	}{{FlagSYN, "SYN"}, {FlagFIN, "FIN"}, {FlagRST, "RST"}} {
		if flags&f.flag != 0 {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, " ")
}

func fragmentName(b []byte) string {
	offset, more := fragmentPlace(b)
	switch {
	case offset > 0:
		return fmt.Sprintf("fragment at %d", offset)
	case more:
		return "first fragment"
	}
	return ""
}

// icmpName names an ICMP message; "" for other packets.
func icmpName(b []byte) string {
	protocol, at := Transport(b)
	if at < 0 || !isICMP(b, protocol) {
		return ""
	}
	request, reply, _ := echo(b)
	switch {
	case request:
		return "echo request"
	case reply:
		return "echo reply"
	}
	what := [2]byte(b[at:])
	for trouble, code := range codes {
		if protocol == ProtocolICMP && code.v4 == what || protocol == ProtocolICMPv6 && code.v6 == what {
			return [...]string{"time exceeded", "no route", "port unreachable", "too big", "prohibited"}[trouble]
		}
	}
	return fmt.Sprintf("type %d code %d", what[0], what[1])
}

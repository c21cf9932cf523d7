package probe

import (
	"net/netip"

	"github.com/pathwise-net/pathwise/sock"
)

// tried closes a socket that was opened to see whether it can be.
func tried(s *sock.Socket, err error) error {
	if err == nil {
		s.Close()
	}
	return err
}

const echoSocket = "a socket for ICMP echoes: `net.ipv4.ping_group_range`, or `CAP_NET_RAW`"

// tryEcho opens a socket for ICMP echoes.
func tryEcho() error { return tried(sock.OpenEcho(false)) }

// tryStamps opens a UDP socket, of which package sock has the kernel stamp what arrives.
func tryStamps() error { return tried(sock.OpenUDP(false)) }

// trySYN opens a raw socket for TCP, on loopback.
func trySYN() error {
	s, _, err := sock.OpenSYN(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0))
	return tried(s, err)
}

package iperf3

import (
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/sock"
)

// troubleCounts are what of a kernel's counts is told to the other end: what arrived and was thrown away, or could not be sent, all that the
// interface sent, this test's data among it, and what arrived for everybody or for many. Of that, an adapter counts frames, where its driver does, and IP packets and bytes of its headers
// and payload, without what other protocols send, as ARP.
var troubleCounts = []string{
	"Tcp.InCsumErrors", "Tcp.InErrs", "TcpExt.TCPBacklogDrop", "TcpExt.TCPRcvQDrop", "TcpExt.PruneCalled",
	"Udp.InCsumErrors", "Udp.RcvbufErrors", "Udp6InCsumErrors", "Udp6RcvbufErrors",
	"Udp.SndbufErrors", "Udp6SndbufErrors", "Ip.ReasmFails", "Ip6ReasmFails",
	"link.rx_errors", "link.rx_crc_errors", "link.rx_frame_errors", "link.rx_dropped", "link.rx_missed_errors", "link.rx_fifo_errors",
	"link.tx_errors", "link.tx_dropped", "link.tx_carrier_errors", "link.collisions",
	"link.rx_pause", "link.tx_pause", "link.tx_bytes",
	"link.multicast", "IpExt.InBcastPkts", "IpExt.InBcastOctets", "IpExt.InMcastPkts", "IpExt.InMcastOctets", "Ip6InMcastPkts", "Ip6InMcastOctets",
}

// countTrouble begins to count, and returns what was counted by then each time that it is asked.
func countTrouble(s *stream) func() sock.Counts {
	address := addrPort(s.conn.LocalAddr()).Addr()
	before := sock.ReadCounts(address)
	return func() sock.Counts {
		more := sock.ReadCounts(address).Since(before)
		maps.DeleteFunc(more, untold)
		return more
	}
}

// untold says whether a count is none of troubleCounts.
func untold(name string, _ uint64) bool { return !slices.Contains(troubleCounts, name) }

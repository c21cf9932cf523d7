package iperf3

import (
	"maps"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/sock"
)

// troubleCounts are what of a kernel's counts is told to the other end: what arrived and was thrown away, or could not be sent. Those of an
// interface begin with link.
var troubleCounts = []string{
	"Tcp.InCsumErrors", "Tcp.InErrs", "TcpExt.TCPBacklogDrop", "TcpExt.TCPRcvQDrop", "TcpExt.PruneCalled",
	"Udp.InCsumErrors", "Udp.RcvbufErrors", "Udp6InCsumErrors", "Udp6RcvbufErrors", "softnet.dropped",
}

// countTrouble begins to count, and returns what was counted by then each time that it is asked.
func countTrouble(s *stream) func() sock.Counts {
	address := addrPort(s.conn.LocalAddr()).Addr()
	before := sock.ReadCounts(address)
	return func() sock.Counts {
		more := sock.ReadCounts(address).Since(before)
		maps.DeleteFunc(more, func(name string, _ uint64) bool {
			return !strings.HasPrefix(name, "link.") && !slices.Contains(troubleCounts, name)
		})
		return more
	}
}

package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/quantity"
)

// socketItems are what all sockets share: memory, queues of those who wait, ports.
var socketItems = []Item{
	{ID: "tcp-mem", Title: "Memory of all TCP connections", Area: TCP, Reads: "net.ipv4.tcp_mem, /proc/net/sockstat",
		Means: "From the second number of pages on, all connections together get smaller windows. A connection alone needs two windows; all that " +
			"are open now may need theirs at once.",
		Formula: "connections × 2 × rate × round trip", Source: manualIP, find: tcpMemory},
	{ID: "tcp-memory-pressure", Title: "TCP short of memory", Area: TCP, Reads: "/proc/net/netstat TCPMemoryPressures", find: moving("TcpExt.TCPMemoryPressures", Problem),
		Means: "How often TCP ran short of memory: windows become small, and packets are dropped."},
	{ID: "listen-most", Title: "Connections that may wait to be accepted", Area: TCP, Key: "net.core.somaxconn", bad: Warning, wants: constant(4096),
		Means: "How many connections may wait for a server to accept them, whatever the server asks for.", Source: manualIP + ", whose default is 4096"},
	{ID: "listen-half-open", Title: "Connections that may be half open", Area: TCP, Key: "net.ipv4.tcp_max_syn_backlog", bad: Warning, wants: constant(128),
		Means: "How many connections may be half open; those beyond it are dropped or answered without options.", Source: manualIP},
	{ID: "listen-queue", Title: "A server's queue of connections", Area: TCP, Reads: "sock_diag", find: listenQueues,
		Means: "Who connects waits in a queue until the server accepts it. A full one drops the handshake, which is repeated a second later."},
	{ID: "listen-drops", Title: "Connections dropped as a server's queue was full", Area: TCP, Reads: "/proc/net/netstat ListenOverflows, ListenDrops", find: moving("TcpExt.ListenDrops", Problem),
		Means: "Handshakes that were dropped since a server's queue was full."},
	{ID: "local-ports", Title: "Ports for connections out", Area: TCP, Key: "net.ipv4.ip_local_port_range", bad: Warning, wants: portRange,
		Means:   "Connections out have a port each, and keep it for a minute after their end.",
		Formula: "ports / 60 s is how many may be opened in a second to one server", Source: "RFC 9293 section 3.6.1; Linux TCP_TIMEWAIT_LEN"},
	{ID: "udp-drops", Title: "Datagrams dropped as a buffer was full", Area: Core, Reads: "/proc/net/snmp Udp RcvbufErrors", find: moving("Udp.RcvbufErrors", Problem),
		Means: "Datagrams that were dropped since the buffer of their socket was full: the program reads too slowly, or asks for too small a buffer."},
}

// tcpMemory holds the windows of all connections against what TCP may use.
func tcpMemory(f *Facts, n Need) []seen {
	parts := strings.Fields(f.Sysctls["net.ipv4.tcp_mem"])
	if len(parts) != 3 || f.PageSize == 0 {
		return nil // not shown to this namespace
	}
	pages, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return nil
	}
	connections := max(1, float64(f.Sockets["TCP.inuse"]))
	have, alone := pages*f.PageSize, twiceProduct(n)
	s := seen{value: quantity.FormatBinarySize(int64(have)), key: "net.ipv4.tcp_mem",
		needed: fmt.Sprintf("%s, of %.0f open", quantity.FormatBinarySize(int64(connections*alone)), connections)}
	switch {
	case have < alone:
		s.status, s.why = Problem, "Not one connection gets what the path needs."
	case have < connections*alone:
		s.status = Warning
	}
	if want := connections * alone; s.status != "" && 2*want <= f.Memory["MemTotal"] { // else memory is what lacks, not the setting
		page := func(v float64) string { return number(whole(v / f.PageSize)) }
		s.changes = settings("net.ipv4.tcp_mem", page(want*3/4)+" "+page(want)+" "+page(want*3/2)) // as the kernel spaces them
	}
	return []seen{s}
}

// listenQueues are the listeners whose queue is full by half, or in one line that none is.
func listenQueues(f *Facts, _ Need) []seen {
	var all []seen
	for _, l := range f.Network.Listeners {
		s := seen{subject: l.Address, value: fmt.Sprintf("%d of %d wait", l.Waiting, l.Queue), needed: "under half",
			command: "let the server accept faster, or listen with a longer queue"}
		switch {
		case l.Waiting > l.Queue:
			s.status = Problem
		case 2*l.Waiting > l.Queue:
			s.status = Warning
		default:
			continue
		}
		all = append(all, s)
	}
	if len(all) == 0 && len(f.Network.Listeners) > 0 {
		return []seen{{value: fmt.Sprintf("%d listen, none full", len(f.Network.Listeners)), needed: "under half"}}
	}
	return all
}

// leastPorts are as many as a hundred connections in a second take: each keeps its port for a minute.
const leastPorts = 6000

func portRange(value string, _ Need) (needed, set string) {
	needed = fmt.Sprintf("%d ports or more", leastPorts)
	var from, to int
	if n, err := fmt.Sscanf(value, "%d %d", &from, &to); n != 2 || err != nil || to-from+1 >= leastPorts {
		return needed, ""
	}
	return needed, "32768 60999" // the kernel's own
}

// moving looks at a counter that should stand still.
func moving(name string, bad Status) func(*Facts, Need) []seen {
	return func(f *Facts, _ Need) []seen {
		c, there := f.Counters[name]
		if !there {
			return nil
		}
		s := f.counted("", c)
		if c.Moved() > 0 {
			s.status = bad
		}
		return []seen{s}
	}
}

// counted says of a counter how far it is, and how much of that came between the two readings.
func (f *Facts) counted(subject string, c Counter) seen {
	return seen{subject: subject, value: fmt.Sprintf("%d, and %d more in %s", c.First, c.Moved(), quantity.FormatSeconds(f.Elapsed.Seconds())),
		needed: "none more"}
}

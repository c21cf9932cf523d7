package sock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Connection is a TCP socket of this host, as its kernel shows it to whoever asks (sock_diag(7)).
type Connection struct {
	Cookie        uint64 // of this socket alone, for as long as the kernel runs
	Local, Remote netip.AddrPort
	State         State
	Inode         uint64 // by which Owners has the process that it belongs to; 0: no process has it open
	Unsent        int    // bytes that were written and are not yet acknowledged
	Unread        int    // bytes that arrived and were not yet read
	Info          TCPInfo
	Buffers       BufferUse
	Congestion    string
	OnlyIPv6      bool // of a listener at all addresses of IPv6: it takes none of IPv4
}

// State is that of a TCP connection (RFC 9293 section 3.3.2), by the kernel's number (include/net/tcp_states.h).
type State uint8

var stateNames = [...]string{1: "established", "syn-sent", "syn-received", "fin-wait-1", "fin-wait-2", "time-wait", "closed", "close-wait",
	"last-ack", "listen", "closing", "syn-received"}

// String is the state's name in small letters.
func (s State) String() string {
	if s == 0 || int(s) >= len(stateNames) {
		return "unknown"
	}
	return stateNames[s]
}

// OpenStates are those in which data may wait or move: all but syn-received, whose sockets belong to nobody yet, time-wait, closed and listen.
var OpenStates = []State{1, 2, 4, 5, 8, 9, 11}

const (
	// What is asked for beside the header, a bit each from 1 on (include/uapi/linux/inet_diag.h, INET_DIAG_…).
	diagInfo    = 2
	diagCong    = 4
	diagMemInfo = 7

	diagOnlyIPv6 = 11 // is told unasked (INET_DIAG_SKV6ONLY)

	diagRequestSize = 56 // struct inet_diag_req_v2
	diagHeaderSize  = 72 // struct inet_diag_msg
)

// Connections lists the TCP sockets in OpenStates, of both families, in the network namespace of the calling thread. Anyone may ask, and is
// told of everybody's.
func Connections() (all []Connection, err error) {
	states := uint32(0)
	for _, s := range OpenStates {
		states |= 1 << s
	}
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		some, err := connections(family, states)
		if err != nil {
			return nil, fmt.Errorf("list TCP connections: %w", err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// Listener is a TCP socket that waits for connections.
type Listener struct {
	Local         netip.AddrPort // the address is unspecified where it waits at all of the host
	OnlyIPv6      bool           // at all addresses of IPv6 it waits, and at none of IPv4
	Waiting, Most int            // connections that its program has not accepted, and how many may wait (listen(2)); the kernel admits one more
	Inode         uint64         // as of a Connection
}

// Covers reports whether it takes connections to an address.
func (l Listener) Covers(a netip.Addr) bool {
	own := l.Local.Addr()
	if own.IsUnspecified() {
		return own.Is4() == a.Unmap().Is4() || own.Is6() && !l.OnlyIPv6
	}
	return own.WithZone("") == a.Unmap().WithZone("")
}

const (
	stateHalfOpen = 3 // syn-received
	stateListen   = 10
)

// Listeners lists the TCP sockets that wait for connections, in the network namespace of the calling thread. Anyone may ask.
func Listeners() (all []Listener, err error) {
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		some, err := connections(family, 1<<stateListen)
		if err != nil {
			return nil, fmt.Errorf("list TCP listeners: %w", err)
		}
		for _, c := range some {
			// Of a listener the kernel tells its accept queue in place of its buffers (net/ipv4/tcp_diag.c).
			all = append(all, Listener{Local: c.Local, OnlyIPv6: c.OnlyIPv6, Waiting: c.Unread, Most: c.Unsent, Inode: c.Inode})
		}
	}
	return all, nil
}

// HalfOpen lists the connections whose SYN the kernel has answered, and that are not open: the last ACK of their opening has not come. Anyone may ask.
func HalfOpen() (all []Connection, err error) {
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		some, err := connections(family, 1<<stateHalfOpen)
		if err != nil {
			return nil, fmt.Errorf("list half-open TCP connections: %w", err)
		}
		all = append(all, some...)
	}
	return all, nil
}

func connections(family uint8, states uint32) (all []Connection, err error) {
	request := nl.NewNetlinkRequest(unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP)
	asked := make([]byte, diagRequestSize)
	asked[0], asked[1], asked[2] = family, unix.IPPROTO_TCP, 1<<(diagInfo-1)|1<<(diagCong-1)|1<<(diagMemInfo-1)
	binary.NativeEndian.PutUint32(asked[4:], states)
	request.AddRawData(asked)
	replies, err := request.Execute(unix.NETLINK_INET_DIAG, 0)
	if err != nil && !errors.Is(err, nl.ErrDumpInterrupted) { // which comes with what was told until then
		return nil, err
	}
	for _, reply := range replies {
		c, err := parseConnection(reply)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// parseConnection decodes a struct inet_diag_msg and the attributes behind it. Ports and addresses are in network byte order:
//
//	 0      1     2     4             8            24            40       44      52      56      60      64    68      72
//	| family|state|…    | local port  | local addr | remote addr | device | cookie|expires|unread |unsent | uid | inode |
//	                    | remote port (6)
func parseConnection(raw []byte) (c Connection, err error) {
	if len(raw) < diagHeaderSize {
		return c, fmt.Errorf("answer of %d bytes is too short", len(raw))
	}
	end := func(port, address int) netip.AddrPort {
		a := netip.AddrFrom16([16]byte(raw[address : address+16])).Unmap()
		if raw[0] == unix.AF_INET {
			a = netip.AddrFrom4([4]byte(raw[address : address+4]))
		}
		return netip.AddrPortFrom(a, binary.BigEndian.Uint16(raw[port:]))
	}
	at := func(offset int) int { return int(binary.NativeEndian.Uint32(raw[offset:])) }
	c = Connection{Cookie: binary.NativeEndian.Uint64(raw[44:]), Local: end(4, 8), Remote: end(6, 24), State: State(raw[1]),
		Unread: at(56), Unsent: at(60), Inode: uint64(at(68))}
	err = EachAttr(raw[diagHeaderSize:], func(kind uint16, value []byte) error {
		switch kind {
		case diagInfo:
			c.Info = ParseTCPInfo(value)
		case diagCong:
			c.Congestion = unix.ByteSliceToString(value)
		case diagMemInfo:
			c.Buffers = parseBufferUse(value)
		case diagOnlyIPv6:
			c.OnlyIPv6 = len(value) > 0 && value[0] != 0
		}
		return nil
	})
	return c, err
}

// Values are what the kernel says of a connection: those of its TCP_INFO, and how full its buffers are, keyed by name as there.
func (c *Connection) Values() map[string]float64 {
	values := c.Info.Values()
	values["unsent_bytes"], values["unread_bytes"] = float64(c.Unsent), float64(c.Unread)
	if b := c.Buffers; b != (BufferUse{}) {
		values["send_buffer_bytes"], values["send_queued_bytes"] = float64(b.SendBuffer), float64(b.SendQueued)
		values["receive_buffer_bytes"], values["receive_queued_bytes"] = float64(b.ReceiveBuffer), float64(b.ReceiveAlloc)
		values["drops_packets"] = float64(b.Drops)
	}
	return values
}

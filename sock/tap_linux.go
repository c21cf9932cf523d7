package sock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Tap sees the packets of TCP from and to a port at all interfaces of this host (packet(7)), and the ICMP errors. What comes in it sees before the
// host's firewall does, and what leaves behind it: netfilter and the queue of the interface have let that pass.
type Tap struct {
	file   *os.File
	conn   syscall.RawConn
	packet [tapBytes]byte
}

// tapBytes holds the headers of a segment, and those that an ICMP error quotes.
const tapBytes = 256

// OpenTap opens one, in the network namespace of the calling thread. It needs CAP_NET_RAW; without it the error is a PermissionError.
func OpenTap(port uint16) (*Tap, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0) // protocol 0: nothing comes in yet
	if denied(err) {
		return nil, &PermissionError{Op: "open packet socket", Err: err, Remedy: "run as root, or setcap cap_net_raw+ep on this program"}
	}
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	t := &Tap{file: os.NewFile(uintptr(fd), "packet socket")}
	filter := tapFilter(port)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program); err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_ALL)})
	}
	if err == nil {
		t.conn, err = t.file.SyscallConn()
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("prepare packet socket: %w", err)
	}
	return t, nil
}

// bigEndian is a number of 16 bits in the order of bytes in which packet(7) wants protocols.
func bigEndian(n uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, n))
}

// tapFilter returns a classic BPF program (Documentation/networking/filter.rst) that lets in TCP from and to a port, and ICMP. It sees packets from
// their IP header on:
//
//	IPv4  | version : 4, words : 4 (0) | … | protocol (9) | …  X | source port (X) | target port (X+2) |
//	IPv6  | version : 4 (0)        | … | next header (6)  | … 40 | source port (40) | target port (42) |
func tapFilter(port uint16) []unix.SockFilter {
	const (
		load, loadHalf, loadAt = unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, unix.BPF_LD | unix.BPF_H | unix.BPF_IND
		equal                  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		pass, drop             = 20, 19
	)
	// jump continues at an instruction, counted from the one after it, where the accumulator is a value, else at another.
	jump := func(at int, value uint32, then, otherwise int) unix.SockFilter {
		return unix.SockFilter{Code: equal, K: value, Jt: uint8(then - at - 1), Jf: uint8(otherwise - at - 1)}
	}
	return []unix.SockFilter{
		0:    {Code: load, K: 0},
		1:    {Code: unix.BPF_ALU | unix.BPF_RSH | unix.BPF_K, K: 4},
		2:    jump(2, 6, 12, 3),
		3:    jump(3, 4, 4, drop),
		4:    {Code: load, K: 9},
		5:    jump(5, protocolICMP, pass, 6),
		6:    jump(6, protocolTCP, 7, drop),
		7:    {Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH, K: 0},
		8:    {Code: loadAt, K: 0},
		9:    jump(9, uint32(port), pass, 10),
		10:   {Code: loadAt, K: 2},
		11:   jump(11, uint32(port), pass, drop),
		12:   {Code: load, K: 6},
		13:   jump(13, protocolICMPv6, pass, 14),
		14:   jump(14, protocolTCP, 15, drop),
		15:   {Code: loadHalf, K: ipv6Header},
		16:   jump(16, uint32(port), pass, 17),
		17:   {Code: loadHalf, K: ipv6Header + 2},
		18:   jump(18, uint32(port), pass, drop),
		drop: {Code: unix.BPF_RET | unix.BPF_K, K: 0},
		pass: {Code: unix.BPF_RET | unix.BPF_K, K: tapBytes},
	}
}

// Receive returns the next packet. From Finish on it returns those that were seen until then, and after them os.ErrDeadlineExceeded.
func (t *Tap) Receive() (seen Tapped, err error) {
	for {
		n, from, err := t.receive()
		if err != nil {
			return seen, err
		}
		link, _ := from.(*unix.SockaddrLinklayer)
		packet, ok := parseTapped(t.packet[:n])
		if !ok || link == nil {
			continue
		}
		packet.Interface, packet.Out = link.Ifindex, link.Pkttype == unix.PACKET_OUTGOING
		return packet, nil
	}
}

func (t *Tap) receive() (n int, from unix.Sockaddr, err error) {
	var failed error
	take := func(fd uintptr) bool {
		n, from, failed = unix.Recvfrom(int(fd), t.packet[:], unix.MSG_DONTWAIT)
		return !errors.Is(failed, unix.EAGAIN)
	}
	if err = t.conn.Read(take); errors.Is(err, os.ErrDeadlineExceeded) {
		taken := false
		if err := t.conn.Control(func(fd uintptr) { taken = take(fd) }); err != nil || !taken {
			return 0, nil, os.ErrDeadlineExceeded
		}
		err = nil
	}
	if err == nil && failed != nil {
		err = os.NewSyscallError("recvfrom", failed)
	}
	return n, from, err
}

// Finish has Receive end when it has returned what was seen. Any goroutine may call it.
func (t *Tap) Finish() {
	_ = t.file.SetReadDeadline(time.Unix(1, 0)) // fails only on a closed socket, of which Receive has ended
}

// Close closes the tap.
func (t *Tap) Close() error { return t.file.Close() }

// InterfaceName is the name of an interface by its index, or the index where it has gone.
func InterfaceName(index int) string {
	i, err := net.InterfaceByIndex(index)
	if err != nil {
		return fmt.Sprint(index)
	}
	return i.Name
}

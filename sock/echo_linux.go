package sock

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"
)

// OpenEcho opens a socket for ICMP echo, of ICMP or ICMPv6: a datagram socket, which needs no privilege where
// net.ipv4.ping_group_range allows it, else a raw one, which needs CAP_NET_RAW. Where the kernel allows neither it
// returns a PermissionError. Packets sent and received start with the ICMP header in both cases. The kernel gives a
// datagram socket an identifier, writes it into its requests and hands it only the replies to them; requests on a raw
// socket must carry Ident, and those of the replies that have it come in.
func OpenEcho(ipv6 bool) (*Socket, error) { return OpenEchoAs(ipv6, 0) }

// OpenEchoAs is OpenEcho with a wish for the identifier of a raw socket, 0 for none: where it is taken, Ident is the next that is free.
func OpenEchoAs(ipv6 bool, wanted uint16) (*Socket, error) {
	protocol := unix.IPPROTO_ICMP
	if ipv6 {
		protocol = unix.IPPROTO_ICMPV6
	}
	s, err := open(ipv6, unix.SOCK_DGRAM, protocol)
	if denied(err) {
		s, err = openRawEcho(ipv6, protocol, wanted)
	}
	switch {
	case err == nil:
		return s, nil
	case denied(err):
		return nil, &PermissionError{Op: "open ICMP socket", Err: err,
			Remedy: `let root run: sysctl -w net.ipv4.ping_group_range="0 2147483647", or setcap cap_net_raw+ep on this program`}
	}
	return nil, fmt.Errorf("open ICMP socket: %w", err)
}

// OpenRawEcho opens a raw socket as OpenEchoAs does, also where a datagram socket is allowed: what it sends may have other identifiers than Ident.
func OpenRawEcho(ipv6 bool, wanted uint16) (*Socket, error) {
	protocol := unix.IPPROTO_ICMP
	if ipv6 {
		protocol = unix.IPPROTO_ICMPV6
	}
	s, err := openRawEcho(ipv6, protocol, wanted)
	if denied(err) {
		err = &PermissionError{Op: "open raw ICMP socket", Err: err, Remedy: "run as root, or setcap cap_net_raw+ep on this program"}
	}
	return s, err
}

func denied(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }

// openRawEcho opens a raw socket that hears only echo replies to its own identifier. The kernel gives every raw socket
// a copy of all ICMP that comes to the host, so a hundred sockets that ping would otherwise read each other's replies,
// ten thousand for a hundred. The identifier is the one that is wanted, 0: a random one, or the next that is free.
func openRawEcho(ipv6 bool, protocol int, wanted uint16) (*Socket, error) {
	s, err := open(ipv6, unix.SOCK_RAW, protocol)
	if err != nil {
		return nil, err
	}
	if wanted == 0 {
		wanted = uint16(rand.Uint32())
	}
	if s.ident, err = reserveIdent(wanted); err == nil {
		_, err = control(s.conn, s.onlyOwnReplies)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// onlyOwnReplies lets in echo replies with our identifier, and drops what was queued before. ICMP errors come by the
// error queue regardless, those about the packets of others too: the kernel asks no filter about them.
func (s *Socket) onlyOwnReplies(fd int) (struct{}, error) {
	if err := s.onlyEchoReplies(fd); err != nil {
		return struct{}{}, os.NewSyscallError("setsockopt ICMP_FILTER", err)
	}
	return struct{}{}, s.only(fd, wordFilter(identAt, s.ident.number, s.ipv6))
}

// only lets in what a filter passes, and drops what was queued before.
func (s *Socket) only(fd int, filter []unix.SockFilter) error {
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program); err != nil {
		return os.NewSyscallError("setsockopt SO_ATTACH_FILTER", err)
	}
	for { // nothing of ours was sent yet, so nothing more comes in; an errno is what an ICMP error left
		if _, _, err := unix.Recvfrom(fd, nil, unix.MSG_DONTWAIT); errors.Is(err, unix.EAGAIN) {
			return nil
		}
	}
}

// onlyEchoReplies spares a raw socket all other ICMP, before the kernel makes the socket's copy of it.
func (s *Socket) onlyEchoReplies(fd int) error {
	const echoReply, echoReply6 = 0, 129
	if !s.ipv6 {
		const solRaw, icmpFilter = 255, 1 // linux/icmp.h; a bit that is set blocks its type
		return unix.SetsockoptInt(fd, solRaw, icmpFilter, ^(1<<echoReply)&0x7fffffff)
	}
	var filter unix.ICMPv6Filter
	for i := range filter.Data {
		filter.Data[i] = ^uint32(0)
	}
	filter.Data[echoReply6/32] &^= 1 << (echoReply6 % 32)
	return unix.SetsockoptICMPv6Filter(fd, unix.IPPROTO_ICMPV6, 1, &filter)
}

// identAt is where an ICMP echo has its identifier, in bytes from the start of the ICMP header.
const identAt = 4

// wordFilter returns a classic BPF program (Documentation/networking/filter.rst) that lets in the packets which have a number of
// 16 bits at a place, counted in bytes from the end of the IP header. A raw IPv4 socket sees a packet from its IP header on; the
// low half of that header's first byte is its length in words of 4 bytes. A raw IPv6 socket sees no IP header. Of an echo, whose
// identifier is at 4:
//
//	IPv4  | version : 4, words : 4 | … | type : 8, code : 8, checksum : 16 | identifier : 16, …
//	IPv6                               | type : 8, code : 8, checksum : 16 | identifier : 16, …
//	                                   X                                   X+at
//
//	0  X ← length of the IP header
//	1  A ← 16 bits at X+at; no such bytes: drop
//	2  A = word ? 3 : 4
//	3  pass whole
//	4  drop
func wordFilter(at uint32, word uint16, ipv6 bool) []unix.SockFilter {
	header := unix.SockFilter{Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH, K: 0}
	if ipv6 {
		header = unix.SockFilter{Code: unix.BPF_LDX | unix.BPF_IMM, K: 0}
	}
	return []unix.SockFilter{
		header,
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND, K: at},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: uint32(word)},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
}

// Raw says whether this is a raw socket: its user then hears of errors about the packets of others as well.
func (s *Socket) Raw() bool { return s.raw }

// Ident is the identifier that requests on a raw echo socket must carry; 0 on other sockets.
func (s *Socket) Ident() uint16 { return s.ident.number }

// ident is an ICMP echo identifier that no other raw echo socket of this package has, in whatever process of the host,
// until it is freed. The kernel sees to that for its datagram sockets, but knows no identifiers of raw ones. So an
// abstract Unix socket holds it by its name: such a name belongs to the network namespace, as ICMP does, is given once,
// and goes with its process however that ends. Other programs, which do not know of this, may still choose the same
// identifier.
type ident struct {
	number uint16
	holder *os.File // the Unix socket
}

// reserveIdent takes the first identifier that is free, from one on. Where that one is random, it is hardly one to
// which replies were still on their way when it was freed.
func reserveIdent(first uint16) (ident, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ident{}, fmt.Errorf("reserve identifier: %w", os.NewSyscallError("socket", err))
	}
	i := ident{number: first, holder: os.NewFile(uintptr(fd), "identifier")}
	for range 1 << 16 {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("@pathwise/echo/%04x", i.number)}) // @: abstract
		if err == nil {
			return i, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			break
		}
		i.number++
	}
	i.free()
	return ident{}, fmt.Errorf("reserve identifier: %w", os.NewSyscallError("bind", err))
}

// free gives the identifier back.
func (i ident) free() {
	if i.holder != nil {
		i.holder.Close()
	}
}

package iperf3

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// beside is what the kernel tells beside a datagram.
type beside struct {
	stamp     int64 // when it came, in ns since 1970; 0: not told
	merged    int   // bytes of each datagram but the last in a message of several; 0: it came alone
	dscp      int
	marked    bool
	drops     uint32 // messages dropped before it since the socket was opened, as its buffer was full (SO_RXQ_OVFL)
	dropsTold bool
	fragment  int // bytes of the largest fragment that it came in; 0: it came whole
}

// readBeside reads control messages (cmsg(3)) without allocating. What it does not know, or what is too short, it passes over.
//
//	| length : 64 | level : 32 | type : 32 | data … | padding to 8 bytes |     length counts these 16 bytes as well
func readBeside(control []byte) (b beside) {
	for len(control) >= unix.SizeofCmsghdr {
		length := binary.NativeEndian.Uint64(control)
		if length < unix.SizeofCmsghdr || length > uint64(len(control)) {
			return b
		}
		data := control[unix.SizeofCmsghdr:length]
		b.read([2]uint32{binary.NativeEndian.Uint32(control[8:]), binary.NativeEndian.Uint32(control[12:])}, data)
		control = control[min(uint64(len(control)), (length+7)&^7):]
	}
	return b
}

func (b *beside) read(kind [2]uint32, data []byte) {
	if kind == [2]uint32{unix.IPPROTO_IP, unix.IP_TOS} && len(data) >= 1 {
		b.dscp, b.marked = int(data[0])>>2, true
		return
	}
	if len(data) < 4 {
		return
	}
	number := binary.NativeEndian.Uint32(data)
	switch kind {
	case [2]uint32{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW}: // | seconds : 64 | nanoseconds : 64 |
		if len(data) >= 16 {
			b.stamp = int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
		}
	case [2]uint32{unix.SOL_UDP, unix.UDP_GRO}:
		b.merged = int(number)
	case [2]uint32{unix.SOL_SOCKET, unix.SO_RXQ_OVFL}:
		b.drops, b.dropsTold = number, true
	case [2]uint32{unix.IPPROTO_IPV6, unix.IPV6_TCLASS}:
		b.dscp, b.marked = int(number&0xff)>>2, true
	case [2]uint32{unix.IPPROTO_IP, unix.IP_RECVFRAGSIZE}, [2]uint32{unix.IPPROTO_IPV6, unix.IPV6_RECVFRAGSIZE}:
		b.fragment = int(number)
	}
}

// tellFragments makes the kernel tell of datagrams that came in fragments how large those were.
func tellFragments(c syscall.RawConn) error {
	err := sock.SetInt(c, unix.IPPROTO_IP, unix.IP_RECVFRAGSIZE, 1)
	if six := sock.SetInt(c, unix.IPPROTO_IPV6, unix.IPV6_RECVFRAGSIZE, 1); six == nil { // of an IPv6 socket, which may refuse the other
		return nil
	}
	return err
}

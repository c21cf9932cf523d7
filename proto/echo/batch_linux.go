package echo

import (
	"encoding/binary"
	"net/netip"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// batchSize is how many packets one call takes from the kernel at most.
const batchSize = 64

// Of a packet the header of IP (60 bytes at most), the header of ICMP and the mark are looked at; what is longer the kernel cuts off. The control
// messages are a stamp (64 bytes), a TTL (24) and an ICMP error (up to 64).
const (
	packetRoom  = 128
	controlRoom = 256
)

// batch is what one call of recvmmsg fills.
type batch struct {
	headers [batchSize]header
	vectors [batchSize]unix.Iovec
	packets [batchSize][packetRoom]byte
	control [batchSize][controlRoom]byte
	names   [batchSize]unix.RawSockaddrInet6 // long enough for either family
}

// header is struct mmsghdr (recvmmsg(2)).
type header struct {
	unix.Msghdr
	length uint32
	_      [4]byte
}

func newBatch() *batch {
	b := new(batch)
	for i := range b.headers {
		b.vectors[i].Base = &b.packets[i][0]
		b.vectors[i].SetLen(packetRoom)
		h := &b.headers[i]
		h.Iov, h.Control, h.Name = &b.vectors[i], &b.control[i][0], (*byte)(unsafe.Pointer(&b.names[i]))
		h.SetIovlen(1)
	}
	return b
}

// tries is how often a call is repeated that failed: an ICMP error makes a later call on the socket fail with an errno that is not of that call.
// Failures in a row are then of the call itself.
const tries = 16

// receive takes what waits in a socket, or with unix.MSG_ERRQUEUE in its error queue, and returns how many packets that were, at most batchSize.
func (b *batch) receive(fd, flags int) (n int, err error) {
	for i := range b.headers {
		b.headers[i].Namelen = unix.SizeofSockaddrInet6
		b.headers[i].SetControllen(controlRoom)
	}
	for range tries {
		got, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&b.headers[0])), batchSize,
			uintptr(flags|unix.MSG_DONTWAIT), 0, 0)
		switch errno {
		case 0:
			return int(got), nil
		case unix.EAGAIN:
			return 0, nil
		}
		err = errno
	}
	return 0, os.NewSyscallError("recvmmsg", err)
}

// arrival is a packet, or an entry of the error queue, and what the kernel says beside it.
type arrival struct {
	data     []byte // valid until the next receive
	peer     netip.Addr
	kernel   int64 // software stamp of sending or receiving, in ns (Unix); 0: none
	ttl      int   // 0: not known
	extended unix.SockExtendedErr
	offender netip.Addr // of an ICMP error
}

func (b *batch) arrival(i int) arrival {
	h := &b.headers[i]
	a := arrival{data: b.packets[i][:min(h.length, packetRoom)], peer: addressIn(unsafe.Slice(h.Name, h.Namelen))}
	a.read(b.control[i][:min(uint64(h.Controllen), controlRoom)])
	return a
}

// read reads control messages (cmsg(3)). What it does not know, or what is too short, it passes over.
//
//	| length : 64 | level : 32 | type : 32 | data … | padding to 8 bytes |     length counts these 16 bytes as well
func (a *arrival) read(control []byte) {
	for len(control) >= unix.SizeofCmsghdr {
		length := binary.NativeEndian.Uint64(control)
		if length < unix.SizeofCmsghdr || length > uint64(len(control)) {
			return
		}
		data := control[unix.SizeofCmsghdr:length]
		level, kind := binary.NativeEndian.Uint32(control[8:]), binary.NativeEndian.Uint32(control[12:])
		switch [2]uint32{level, kind} {
		case [2]uint32{unix.SOL_SOCKET, unix.SO_TIMESTAMPING}: // | seconds : 64 | nanoseconds : 64 | …
			if len(data) >= 16 {
				a.kernel = int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
			}
		case [2]uint32{unix.IPPROTO_IP, unix.IP_TTL}, [2]uint32{unix.IPPROTO_IPV6, unix.IPV6_HOPLIMIT}:
			if len(data) >= 4 {
				a.ttl = int(binary.NativeEndian.Uint32(data) & 0xff)
			}
		case [2]uint32{unix.IPPROTO_IP, unix.IP_RECVERR}, [2]uint32{unix.IPPROTO_IPV6, unix.IPV6_RECVERR}:
			a.readExtended(data)
		}
		control = control[min(uint64(len(control)), (length+7)&^7):]
	}
}

// readExtended reads struct sock_extended_err and the address of the offender that follows it:
//
//	| errno : 32 | origin : 8 | type : 8 | code : 8 | pad : 8 | info : 32 | data : 32 | address
func (a *arrival) readExtended(data []byte) {
	const size = 16
	if len(data) < size {
		return
	}
	a.extended = unix.SockExtendedErr{Errno: binary.NativeEndian.Uint32(data), Origin: data[4], Type: data[5], Code: data[6],
		Info: binary.NativeEndian.Uint32(data[8:]), Data: binary.NativeEndian.Uint32(data[12:])}
	a.offender = addressIn(data[size:])
}

// addressIn reads the address of struct sockaddr_in or sockaddr_in6; the zero value of anything else.
//
//	IPv4  | family : 16 | port : 16 | address : 32 |
//	IPv6  | family : 16 | port : 16 | flow : 32 | address : 128 |
func addressIn(b []byte) netip.Addr {
	if len(b) < 8 {
		return netip.Addr{}
	}
	switch binary.NativeEndian.Uint16(b) {
	case unix.AF_INET:
		return netip.AddrFrom4([4]byte(b[4:]))
	case unix.AF_INET6:
		if len(b) >= 24 {
			return netip.AddrFrom16([16]byte(b[8:])).Unmap()
		}
	}
	return netip.Addr{}
}

// icmpError is what an entry of the error queue tells of a packet of ours; ok is false of one that tells something else.
func (a *arrival) icmpError() (e sock.ICMPError, ok bool) {
	switch a.extended.Origin {
	case unix.SO_EE_ORIGIN_ICMP, unix.SO_EE_ORIGIN_ICMP6:
	default:
		return e, false
	}
	e = sock.ICMPError{IPv6: a.extended.Origin == unix.SO_EE_ORIGIN_ICMP6, Type: a.extended.Type, Code: a.extended.Code,
		Offender: a.offender, To: netip.AddrPortFrom(a.peer, 0), Quoted: a.data, TTL: a.ttl}
	if e.Reason() == sock.TooBig {
		e.MTU = int(a.extended.Info)
	}
	return e, true
}

// stampID is the number of the request whose stamp an entry of the error queue is; ok is false of any other entry.
func (a *arrival) stampID() (id uint32, ok bool) {
	return a.extended.Data, a.extended.Origin == unix.SO_EE_ORIGIN_TIMESTAMPING && a.extended.Info == unix.SCM_TSTAMP_SND
}

// wait waits until something can be read from a socket or its error queue, at most for a time, to the nanosecond (ppoll(2)); without a
// socket for that time.
func wait(fd int, socket bool, most time.Duration) error {
	limit := unix.NsecToTimespec(int64(most))
	var poll []unix.PollFd
	if socket {
		poll = []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	}
	_, err := unix.Ppoll(poll, &limit, nil)
	if err == unix.EINTR { // a signal to the thread; whoever waits looks again
		return nil
	}
	return os.NewSyscallError("ppoll", err)
}

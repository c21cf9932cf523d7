package sock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
)

// MaxFlowLabel is the largest of the 20 bits of a flow label (RFC 6437).
const MaxFlowLabel = 1<<20 - 1

// Of linux/in6.h: socket options, and how a label is asked for.
const (
	flowLabelManager = 32 // IPV6_FLOWLABEL_MGR
	flowInfoSend     = 33 // IPV6_FLOWINFO_SEND
	flowGet          = 0  // IPV6_FL_A_GET
	flowCreate       = 1  // IPV6_FL_F_CREATE
	flowShareAny     = 255
)

// flowRequest asks for a label towards an address (struct in6_flowlabel_req).
type flowRequest struct {
	target          [16]byte
	label           [4]byte // in network byte order
	action, share   uint8
	flags           uint16
	expires, linger uint16 // seconds; 0: the kernel's least
	_               uint32
}

// ConnectFlow connects a socket of IPv6 to an address by packets with a flow label from 1 to MaxFlowLabel. A connection over TCP may still be
// opening when it returns: what connects the socket once more, such as a net.Dialer whose Control called this, waits for it. A socket of UDP
// may have been connected to the address before.
func ConnectFlow(c syscall.RawConn, to netip.AddrPort, label int) error {
	switch {
	case label < 1 || label > MaxFlowLabel:
		return &input.Error{Field: "flow label", Value: strconv.Itoa(label), Remedy: fmt.Sprintf("give a number from 1 to %d", MaxFlowLabel)}
	case !to.Addr().Is6() || to.Addr().Is4In6():
		return &input.Error{Field: "flow label", Value: strconv.Itoa(label), Remedy: "only IPv6 has one, and " + to.Addr().String() + " is of IPv4: see -6"}
	}
	_, err := control(c, func(fd int) (struct{}, error) {
		r := flowRequest{target: to.Addr().As16(), action: flowGet, share: flowShareAny, flags: flowCreate}
		binary.BigEndian.PutUint32(r.label[:], uint32(label))
		if err := setOption(fd, flowLabelManager, unsafe.Pointer(&r), unsafe.Sizeof(r)); err != nil {
			return struct{}{}, err
		}
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, flowInfoSend, 1); err != nil {
			return struct{}{}, err
		}
		a := unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: to.Addr().As16()}
		binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&a.Port))[:], to.Port())
		binary.BigEndian.PutUint32((*[4]byte)(unsafe.Pointer(&a.Flowinfo))[:], uint32(label))
		if zone := to.Addr().Zone(); zone != "" {
			device, err := net.InterfaceByName(zone)
			if err != nil {
				return struct{}{}, err
			}
			a.Scope_id = uint32(device.Index)
		}
		_, _, failed := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a))
		if failed != 0 && failed != unix.EINPROGRESS {
			return struct{}{}, failed
		}
		return struct{}{}, nil
	})
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("set flow label %d: another program of this host has it for itself: %w", label, err)
	}
	if err != nil {
		return fmt.Errorf("connect with flow label %d: %w", label, err)
	}
	return nil
}

// setOption sets an option of IPv6 to a structure.
func setOption(fd, option int, value unsafe.Pointer, bytes uintptr) error {
	_, _, failed := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.IPPROTO_IPV6, uintptr(option), uintptr(value), bytes, 0)
	if failed != 0 {
		return failed
	}
	return nil
}

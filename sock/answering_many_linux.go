package sock

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Replies are what one call of sendmmsg(2) needs to send many packets through an Answering socket to who asked, from the address that was asked.
type Replies struct {
	Socket syscall.RawConn // of the Answering, until that is closed
	Name   []byte          // the socket address of who asked

	to Asked
}

// Replies returns what sends packets to who asked. What it returns may be used beside all calls of the Answering.
func (a *Answering) Replies(to Asked) (r Replies, err error) {
	domain, err := getInt(a.raw, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err == nil {
		r = Replies{Socket: a.raw, to: Asked{From: to.From, Local: to.Local}}
		r.Name, err = socketAddress(domain, to.From)
	}
	if err != nil {
		return Replies{}, fmt.Errorf("reply to %v: %w", to.From, err)
	}
	return r, nil
}

// Control returns the control messages with which packets leave from the address that was asked, with a DSCP and ECN.
func (r *Replies) Control(tos int) []byte {
	b := fromAddress(nil, r.to.Local)
	if tos != 0 {
		b = marked(b, r.to.From.Addr(), tos)
	}
	return b
}

// socketAddress is an address as sockets of a family have it: those of IPv6 have IPv4 addresses mapped into theirs (RFC 4291 section 2.5.5.2).
func socketAddress(domain int, to netip.AddrPort) ([]byte, error) {
	if domain == unix.AF_INET {
		a := unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: to.Addr().Unmap().As4()}
		binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&a.Port))[:], to.Port())
		return (*[unix.SizeofSockaddrInet4]byte)(unsafe.Pointer(&a))[:], nil
	}
	a := unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: to.Addr().As16()}
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&a.Port))[:], to.Port())
	if zone := to.Addr().Zone(); zone != "" {
		device, err := net.InterfaceByName(zone)
		if err != nil {
			return nil, fmt.Errorf("find interface %s: %w", zone, err)
		}
		a.Scope_id = uint32(device.Index)
	}
	return (*[unix.SizeofSockaddrInet6]byte)(unsafe.Pointer(&a))[:], nil
}

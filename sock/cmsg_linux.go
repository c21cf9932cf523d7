package sock

import (
	"encoding/binary"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// ancillary is what the kernel says beside a packet or an entry of the error queue.
type ancillary struct {
	kernel   time.Time // software receive or send stamp; zero: none
	ttl      int       // 0: none
	dscp     int       // -1: none
	tos      int       // dscp, and the two bits of ECN below it; -1: none
	local    netip.Addr
	extended *unix.SockExtendedErr
	offender netip.Addr
}

// parseAncillary decodes control messages. What it does not know, or what is too short, it passes over: a missing
// stamp or TTL is absent, not an error.
func parseAncillary(oob []byte) ancillary {
	a := ancillary{dscp: -1, tos: -1}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return a
	}
	for _, m := range messages {
		switch [2]int32{m.Header.Level, m.Header.Type} {
		case [2]int32{unix.SOL_SOCKET, unix.SO_TIMESTAMPING}:
			a.kernel = parseTimestamping(m.Data)
		case [2]int32{unix.IPPROTO_IP, unix.IP_TTL}, [2]int32{unix.IPPROTO_IPV6, unix.IPV6_HOPLIMIT}:
			if len(m.Data) >= 4 {
				a.ttl = int(binary.NativeEndian.Uint32(m.Data) & 0xff)
			}
		case [2]int32{unix.IPPROTO_IP, unix.IP_TOS}:
			if len(m.Data) >= 1 {
				a.mark(int(m.Data[0]))
			}
		case [2]int32{unix.IPPROTO_IPV6, unix.IPV6_TCLASS}:
			if len(m.Data) >= 4 {
				a.mark(int(binary.NativeEndian.Uint32(m.Data) & 0xff))
			}
		case [2]int32{unix.IPPROTO_IP, unix.IP_PKTINFO}: // | interface : 32 | local address : 32 | target : 32 |
			if len(m.Data) >= unix.SizeofInet4Pktinfo {
				a.local = netip.AddrFrom4([4]byte(m.Data[4:]))
			}
		case [2]int32{unix.IPPROTO_IPV6, unix.IPV6_PKTINFO}: // | target : 128 | interface : 32 |
			if len(m.Data) >= unix.SizeofInet6Pktinfo && !a.local.IsValid() {
				a.local = netip.AddrFrom16([16]byte(m.Data)).Unmap()
			}
		case [2]int32{unix.IPPROTO_IP, unix.IP_RECVERR}, [2]int32{unix.IPPROTO_IPV6, unix.IPV6_RECVERR}:
			a.extended, a.offender = parseExtended(m.Data)
		}
	}
	return a
}

func (a *ancillary) mark(tos int) { a.tos, a.dscp = tos, tos>>dscpShift }

// parseTimestamping takes the software stamp of struct scm_timestamping on a 64-bit machine:
//
//	| software: seconds : 64, nanoseconds : 64 | unused : 128 | hardware : 128 |
func parseTimestamping(data []byte) time.Time {
	if len(data) < 16 {
		return time.Time{}
	}
	seconds := int64(binary.NativeEndian.Uint64(data))
	nanoseconds := int64(binary.NativeEndian.Uint64(data[8:]))
	if seconds == 0 && nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, nanoseconds)
}

// parseExtended decodes struct sock_extended_err and the address of the offender that follows it:
//
//	| errno : 32 | origin : 8 | type : 8 | code : 8 | pad : 8 | info : 32 | data : 32 | sockaddr of the offender |
func parseExtended(data []byte) (*unix.SockExtendedErr, netip.Addr) {
	const size = 16
	if len(data) < size {
		return nil, netip.Addr{}
	}
	e := &unix.SockExtendedErr{
		Errno: binary.NativeEndian.Uint32(data), Origin: data[4], Type: data[5], Code: data[6],
		Info: binary.NativeEndian.Uint32(data[8:]), Data: binary.NativeEndian.Uint32(data[12:]),
	}
	address := data[size:]
	if len(address) < 8 {
		return e, netip.Addr{}
	}
	switch binary.NativeEndian.Uint16(address) { // | family : 16 | port : 16 | (IPv6: flow : 32) | address
	case unix.AF_INET:
		return e, netip.AddrFrom4([4]byte(address[4:8]))
	case unix.AF_INET6:
		if len(address) >= 24 {
			return e, netip.AddrFrom16([16]byte(address[8:24])).Unmap()
		}
	}
	return e, netip.Addr{}
}

package sock

import (
	"fmt"
	"strconv"
	"syscall"

	"github.com/pathwise-net/pathwise/input"
	"golang.org/x/sys/unix"
)

// The DSCP is the upper six bits of the old type-of-service byte; the lower two are ECN (RFC 2474, RFC 3168).
const (
	dscpShift = 2
	maxDSCP   = 63
	ecnMask   = 3
)

// SetDSCP marks what the socket sends with a differentiated services code point, 0..63. The two ECN bits stay as they
// are. On an IPv6 socket that also speaks IPv4 both are marked.
func SetDSCP(c syscall.RawConn, dscp int) error {
	if dscp < 0 || dscp > maxDSCP {
		return &input.Error{Field: "DSCP", Value: strconv.Itoa(dscp), Remedy: "give a code point from 0 to 63"}
	}
	_, err := control(c, func(fd int) (struct{}, error) {
		level, option, err := tosOption(fd)
		if err != nil {
			return struct{}{}, err
		}
		old, err := unix.GetsockoptInt(fd, level, option)
		if err != nil {
			return struct{}{}, err
		}
		tos := dscp<<dscpShift | old&ecnMask
		if level == unix.IPPROTO_IPV6 { // for mapped IPv4 peers; an IPv6-only socket may refuse
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, tos)
		}
		return struct{}{}, unix.SetsockoptInt(fd, level, option, tos)
	})
	if err != nil {
		return fmt.Errorf("set DSCP %d: %w", dscp, err)
	}
	return nil
}

// SetECN gives what a UDP or raw socket sends from now on an ECN field, 0..3 (RFC 3168); its DSCP stays. The kernel sets that of TCP itself.
func SetECN(c syscall.RawConn, ecn int) error {
	_, err := control(c, func(fd int) (struct{}, error) {
		level, option, err := tosOption(fd)
		if err != nil {
			return struct{}{}, err
		}
		old, err := unix.GetsockoptInt(fd, level, option)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, unix.SetsockoptInt(fd, level, option, old&^ecnMask|ecn&ecnMask)
	})
	if err != nil {
		return fmt.Errorf("set ECN %d: %w", ecn, err)
	}
	return nil
}

// TellDSCP makes the kernel tell the mark of each packet that comes in, beside it: see ArrivedDSCP.
func TellDSCP(c syscall.RawConn) error {
	_, err := control(c, func(fd int) (struct{}, error) {
		domain, err := family(fd)
		if err != nil {
			return struct{}{}, err
		}
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_RECVTOS, 1)
		if domain == unix.AF_INET6 { // that was for mapped IPv4 peers; an IPv6-only socket may refuse
			err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1)
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("ask for the mark of what arrives: %w", err)
	}
	return nil
}

// ArrivedDSCP is the mark that a packet arrived with, by the control messages beside it, and whether they tell it.
func ArrivedDSCP(oob []byte) (dscp int, told bool) {
	dscp = parseAncillary(oob).dscp
	return max(0, dscp), dscp >= 0
}

func tosOption(fd int) (level, option int, err error) {
	domain, err := family(fd)
	if domain == unix.AF_INET6 {
		return unix.IPPROTO_IPV6, unix.IPV6_TCLASS, err
	}
	return unix.IPPROTO_IP, unix.IP_TOS, err
}

// SetTTL sets the TTL, or hop limit, of what the socket sends: 1..255.
func SetTTL(c syscall.RawConn, ttl int) error {
	_, err := control(c, func(fd int) (struct{}, error) {
		level, option := unix.IPPROTO_IP, unix.IP_TTL
		domain, err := family(fd)
		if domain == unix.AF_INET6 {
			level, option = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS
		}
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, unix.SetsockoptInt(fd, level, option, ttl)
	})
	if err != nil {
		return fmt.Errorf("set TTL %d: %w", ttl, err)
	}
	return nil
}

// SetMaxPacing holds the socket below a rate in bit/s (SO_MAX_PACING_RATE, 64 bits wide since Linux 4.20). TCP paces
// itself; UDP is held only where the interface has the fq queueing discipline. A rate of 0 takes the limit away.
func SetMaxPacing(c syscall.RawConn, bitsPerSecond uint64) error {
	bytesPerSecond := bitsPerSecond / 8
	switch {
	case bitsPerSecond == 0:
		bytesPerSecond = ^uint64(0) // the kernel's word for unlimited
	case bytesPerSecond == 0:
		return &input.Error{Field: "pacing rate", Value: strconv.FormatUint(bitsPerSecond, 10),
			Remedy: "give at least 8 bit/s, or 0 for no limit"}
	}
	_, err := control(c, func(fd int) (struct{}, error) {
		return struct{}{}, unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, bytesPerSecond)
	})
	if err != nil {
		return fmt.Errorf("set maximum pacing rate to %d bit/s: %w", bitsPerSecond, err)
	}
	return nil
}

// SetDontFragment forbids fragmentation of what the socket sends, whatever path MTU the kernel remembers: a packet too
// large for the outgoing interface fails with EMSGSIZE, one too large for a later link is dropped there
// (IP_PMTUDISC_PROBE, RFC 4821).
func SetDontFragment(c syscall.RawConn) error {
	_, err := control(c, func(fd int) (struct{}, error) {
		domain, err := family(fd)
		if err != nil {
			return struct{}{}, err
		}
		if domain == unix.AF_INET6 {
			if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG, 1); err != nil {
				return struct{}{}, err
			}
			return struct{}{}, unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE)
		}
		return struct{}{}, unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE)
	})
	if err != nil {
		return fmt.Errorf("forbid fragmentation: %w", err)
	}
	return nil
}

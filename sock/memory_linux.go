package sock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Memory is what the kernel remembers of earlier TCP connections to a peer and starts the next one with (tcp_metrics).
// A zero field is not remembered.
type Memory struct {
	Found             bool
	SSThreshPackets   int
	CwndPackets       int
	ReorderingPackets int
	RTT               time.Duration
	RTTVar            time.Duration
	Age               time.Duration
}

// Numbers of the tcp_metrics family of generic netlink (include/uapi/linux/tcp_metrics.h).
const (
	metricsFamily  = "tcp_metrics"
	metricsVersion = 1
	metricsGet     = 1
	metricsDel     = 2

	attrAddrIPv4 = 1
	attrAddrIPv6 = 2
	attrAge      = 3
	attrVals     = 6

	// Within attrVals a value's attribute is its index plus one.
	valSSThresh     = 3
	valCwnd         = 4
	valReordering   = 5
	valRTTMicros    = 6
	valRTTVarMicros = 7

	// The kernel keeps its smoothed RTT times 8 and its RTT variation times 4 (net/ipv4/tcp_input.c tcp_rtt_estimator).
	rttScale    = 8
	rttVarScale = 4
)

// PathMemory returns what the kernel remembers of earlier connections to dst, in the network namespace of the calling
// thread. Anyone may ask. Memory.Found is false when it remembers nothing.
func PathMemory(dst netip.Addr) (Memory, error) {
	replies, err := metricsCall(metricsGet, dst)
	if errors.Is(err, unix.ESRCH) {
		return Memory{}, nil
	}
	if err != nil {
		return Memory{}, fmt.Errorf("read path memory of %s: %w", dst, err)
	}
	if len(replies) == 0 {
		return Memory{}, fmt.Errorf("read path memory of %s: the kernel sent no answer", dst)
	}
	m, err := parseMemory(replies[0])
	if err != nil {
		return Memory{}, fmt.Errorf("read path memory of %s: %w", dst, err)
	}
	return m, nil
}

// ForgetPath makes the kernel forget what it remembers of dst; nothing to forget is no error. It needs CAP_NET_ADMIN in
// the initial user namespace, so root inside a user namespace gets a PermissionError as well.
func ForgetPath(dst netip.Addr) error {
	_, err := metricsCall(metricsDel, dst)
	switch {
	case err == nil, errors.Is(err, unix.ESRCH):
		return nil
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &PermissionError{Op: fmt.Sprintf("forget path to %s", dst), Err: err,
			Remedy: "run as root outside user namespaces, or set net.ipv4.tcp_no_metrics_save=1"}
	}
	return fmt.Errorf("forget path to %s: %w", dst, err)
}

// metricsCall sends one command about dst and returns the attributes of each answer.
func metricsCall(command uint8, dst netip.Addr) ([][]byte, error) {
	family, err := genericFamily(metricsFamily)
	if err != nil {
		return nil, err
	}
	kind := attrAddrIPv6
	if dst = dst.Unmap(); dst.Is4() {
		kind = attrAddrIPv4
	}
	return genericCall(family, genericHeader{command, metricsVersion}, nl.NewRtAttr(kind, dst.AsSlice()))
}

// parseMemory decodes the attributes of one tcp_metrics entry.
func parseMemory(raw []byte) (Memory, error) {
	m := Memory{Found: true}
	err := EachAttr(raw, func(kind uint16, value []byte) error {
		switch {
		case kind == attrAge && len(value) >= 8:
			m.Age = time.Duration(binary.NativeEndian.Uint64(value)) * time.Millisecond
		case kind == attrVals:
			return EachAttr(value, m.set)
		}
		return nil
	})
	return m, err
}

// set stores one value. Of times, only those in microseconds (Linux 3.15 and later); those in milliseconds repeat them.
func (m *Memory) set(kind uint16, value []byte) error {
	if len(value) < 4 {
		return fmt.Errorf("value %d has %d bytes, not 4", kind, len(value))
	}
	n := binary.NativeEndian.Uint32(value)
	switch kind {
	case valSSThresh:
		m.SSThreshPackets = int(n)
	case valCwnd:
		m.CwndPackets = int(n)
	case valReordering:
		m.ReorderingPackets = int(n)
	case valRTTMicros:
		m.RTT = time.Duration(n) * time.Microsecond / rttScale
	case valRTTVarMicros:
		m.RTTVar = time.Duration(n) * time.Microsecond / rttVarScale
	}
	return nil
}

// EachAttr calls f for each netlink attribute in raw, and ends with the first error:
//
//	| length : 16 | type : 16 | value … | padding to 4 bytes |     length counts its own header of 4 bytes
func EachAttr(raw []byte, f func(kind uint16, value []byte) error) error {
	for len(raw) >= unix.NLA_HDRLEN {
		length := int(binary.NativeEndian.Uint16(raw))
		kind := binary.NativeEndian.Uint16(raw[2:]) &^ (unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER)
		if length < unix.NLA_HDRLEN || length > len(raw) {
			return fmt.Errorf("attribute of %d bytes in %d", length, len(raw))
		}
		if err := f(kind, raw[unix.NLA_HDRLEN:length]); err != nil {
			return err
		}
		raw = raw[min(len(raw), (length+unix.NLA_ALIGNTO-1)&^(unix.NLA_ALIGNTO-1)):]
	}
	return nil
}

package iperf3

import (
	"context"
	"encoding/binary"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ListenMPTCP is Listen for clients by MPTCP as well as by TCP. Where the kernel has no MPTCP, it is of TCP alone.
func ListenMPTCP(ctx context.Context, addr string) (net.Listener, error) {
	return listen(ctx, addr, true)
}

// Options of an MPTCP socket (linux/mptcp.h).
const (
	solMPTCP      = 284 // SOL_MPTCP
	optionInfo    = 1   // MPTCP_INFO
	optionTCPInfo = 2   // MPTCP_TCPINFO, since Linux 5.16
	ackedInInfo   = 72  // offset of mptcpi_bytes_acked in struct mptcp_info, since Linux 6.5
	retransInInfo = 44  // of mptcpi_retransmits
)

// usesMPTCP reports whether a connection is by MPTCP and has not fallen back to TCP.
func usesMPTCP(conn *net.TCPConn) bool {
	uses, err := conn.MultipathTCP()
	return err == nil && uses
}

// ackedByMPTCP is how many bytes the peer of an MPTCP connection acknowledged over all its subflows; ok is false where the kernel does not say. These
// acknowledgements (DATA_ACK) may trail those of TCP: see awaitDataAcks.
func ackedByMPTCP(c syscall.RawConn) (acked, retransmits int64, ok bool) {
	_ = c.Control(func(fd uintptr) {
		var info [128]byte
		length := uint32(len(info))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, solMPTCP, optionInfo, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&length)), 0)
		if errno == 0 && length >= ackedInInfo+8 {
			acked, ok = int64(binary.NativeEndian.Uint64(info[ackedInInfo:])), true
			retransmits = int64(binary.NativeEndian.Uint32(info[retransInInfo:]))
		}
	})
	return acked, retransmits, ok
}

// What MPTCP_TCPINFO fills (linux/mptcp.h, struct mptcp_subflow_data), behind which struct tcp_info of each subflow stands:
//
//	| size of this : 32 | subflows : 32 | kernel's size of a tcp_info : 32 | ours : 32 |
const (
	subflowHeader  = 16
	subflowInfo    = 128 // of struct tcp_info, up to tcpi_bytes_acked and beyond
	ackedInTCPInfo = 120 // offset of tcpi_bytes_acked
	mostSubflows   = 8   // MPTCP_SUBFLOWS_MAX
)

// ackedBySubflows is how many bytes the peer acknowledged by TCP over all subflows that are left, those that went twice as often; ok is false where the
// kernel does not say.
func ackedBySubflows(c syscall.RawConn) (acked int64, ok bool) {
	_ = c.Control(func(fd uintptr) {
		var b [subflowHeader + mostSubflows*subflowInfo]byte
		binary.NativeEndian.PutUint32(b[:], subflowHeader)
		binary.NativeEndian.PutUint32(b[12:], subflowInfo)
		length := uint32(len(b))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, solMPTCP, optionTCPInfo, uintptr(unsafe.Pointer(&b)), uintptr(unsafe.Pointer(&length)), 0)
		if ok = errno == 0; !ok {
			return
		}
		for at := subflowHeader; at+subflowInfo <= min(int(length), len(b)); at += subflowInfo {
			acked += int64(binary.NativeEndian.Uint64(b[at+ackedInTCPInfo:]))
		}
	})
	return acked, ok
}

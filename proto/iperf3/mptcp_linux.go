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
	ackedInInfo   = 72  // offset of mptcpi_bytes_acked in struct mptcp_info, since Linux 6.5
	retransInInfo = 44  // of mptcpi_retransmits
)

// usesMPTCP reports whether a connection is by MPTCP and has not fallen back to TCP.
func usesMPTCP(conn *net.TCPConn) bool {
	uses, err := conn.MultipathTCP()
	return err == nil && uses
}

// ackedByMPTCP is how many bytes the peer of an MPTCP connection acknowledged over all its subflows; ok is false where the kernel does not say. These
// acknowledgements (DATA_ACK) may trail those of TCP, so that a reverse test by bytes may count the last of them as not sent.
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

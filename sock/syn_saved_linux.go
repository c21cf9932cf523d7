package sock

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SaveSYN has the kernel keep the headers of the SYN of each connection that a listener accepts from then on (TCP_SAVE_SYN). Listeners of
// Multipath TCP do not have it.
func SaveSYN(l syscall.RawConn) error {
	_, err := control(l, func(fd int) (struct{}, error) {
		return struct{}{}, os.NewSyscallError("setsockopt TCP_SAVE_SYN", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_SAVE_SYN, 1))
	})
	return err
}

// SavedSYN is the SYN of a connection that a listener accepted for which SaveSYN was called. The kernel tells it once.
func SavedSYN(conn net.Conn) (SYN, error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return SYN{}, errNoSYN
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return SYN{}, err
	}
	headers, err := control(raw, func(fd int) ([]byte, error) {
		var b [60 + 60]byte // the longest headers of IPv4 and TCP; of IPv6 and TCP it is less
		n, err := getBytes(fd, unix.IPPROTO_TCP, unix.TCP_SAVED_SYN, b[:])
		return b[:n], err
	})
	if err != nil {
		return SYN{}, fmt.Errorf("read the SYN of a connection: %w", err)
	}
	syn, err := ParseSYN(headers)
	if err == nil {
		syn.Headers = headers
	}
	return syn, err
}

package sock

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// control runs f on the descriptor behind c and returns what f returns, or why c has no descriptor any more.
func control[T any](c syscall.RawConn, f func(fd int) (T, error)) (T, error) {
	var value T
	var err error
	if outer := c.Control(func(fd uintptr) { value, err = f(int(fd)) }); outer != nil {
		return value, outer
	}
	return value, err
}

// SetInt sets an option of a socket that is a number, such as unix.TCP_MAXSEG of level unix.IPPROTO_TCP.
func SetInt(c syscall.RawConn, level, option, value int) error {
	_, err := control(c, func(fd int) (struct{}, error) {
		return struct{}{}, unix.SetsockoptInt(fd, level, option, value)
	})
	return err
}

func getInt(c syscall.RawConn, level, option int) (int, error) {
	return control(c, func(fd int) (int, error) { return unix.GetsockoptInt(fd, level, option) })
}

// getBytes reads an option of unknown length into buf and returns how much of it the kernel filled. Package unix hides
// that length, and the length is what tells an absent field from a zero.
func getBytes(fd, level, option int, buf []byte) (int, error) {
	length := uint32(len(buf))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(option),
		uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return 0, errno
	}
	return int(length), nil
}

// family returns AF_INET or AF_INET6.
func family(fd int) (int, error) { return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN) }

// Discard takes up to n bytes that a TCP connection has received, has the kernel drop them instead of copying them
// (MSG_TRUNC, tcp(7)), and returns how many they were: 0 at end of file. It waits as the descriptor is set to, and returns
// unix.EAGAIN where that is not at all.
func Discard(fd uintptr, n int) (int, error) {
	const nowhere = 0 // the kernel writes nothing
	dropped, _, errno := unix.Syscall6(unix.SYS_RECVFROM, fd, nowhere, uintptr(n), unix.MSG_TRUNC, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(dropped), nil
}

package sock

import "golang.org/x/sys/unix"

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

package iperf3

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// fileWriter returns a writer that has the kernel send pages of a file in memory, which nothing copies (sendfile(2)). What the file holds is what other writers
// send, as often as it takes.
func (t *transfer) fileWriter(s *stream) (write func(net.Buffers) (int, error), end func(), err error) {
	fd, err := unix.MemfdCreate("payload", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("create a file in memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "payload")
	for range writeSize / pieceSize {
		if _, err := file.Write(t.payload()); err != nil {
			file.Close()
			return nil, nil, fmt.Errorf("fill a file in memory: %w", err)
		}
	}
	return func(pieces net.Buffers) (int, error) {
		length := 0
		for _, p := range pieces {
			length += len(p)
		}
		return s.sendFile(fd, length)
	}, func() { file.Close() }, nil
}

// sendFile sends the first bytes of a file.
func (s *stream) sendFile(file, length int) (written int, err error) {
	waited := s.raw.Write(func(fd uintptr) bool {
		for written < length {
			from := int64(written)
			n, failed := unix.Sendfile(int(fd), file, &from, length-written)
			switch {
			case failed == unix.EAGAIN:
				return false
			case failed == unix.EINTR:
			case failed != nil:
				err = os.NewSyscallError("sendfile", failed)
				return true
			default:
				written += n
			}
		}
		return true
	})
	return written, errors.Join(waited, err)
}

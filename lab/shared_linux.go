package lab

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// sharedFile is a file in memory that the engine writes and the lab's processes read.
type sharedFile struct {
	fd   int
	path string // for the lab's processes
	size int
}

func newSharedFile(name string) (*sharedFile, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	self, err := os.Readlink("/proc/self") // 1, unless the lab could not mount a /proc of its own
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, err)
	}
	return &sharedFile{fd: fd, path: fmt.Sprintf("/proc/%s/fd/%d", self, fd)}, nil
}

// write replaces what the file holds, in one call. What gets shorter is filled up with line ends.
func (f *sharedFile) write(b []byte) error {
	for len(b) < f.size {
		b = append(b, '\n')
	}
	f.size = len(b)
	_, err := unix.Pwrite(f.fd, b, 0)
	return err
}

//go:build unix

package archive

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/pathwise-net/pathwise/durable"
)

// lockFile opens a file that only one process can hold. The kernel lets go of it when the process ends, however it
// does.
func lockFile(owner durable.Owner, path string) (*os.File, error) {
	f, err := owner.Open(path, 0)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrInUse
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// unlockFile lets go of a file. That it says so, and does not leave it to Close, counts while a child of this process
// that is about to become another program still shares it.
func unlockFile(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

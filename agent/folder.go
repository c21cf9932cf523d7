package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// setAside keeps a file that cannot be read out of the way, for people to look at.
func setAside(path string) error { return os.Rename(path, path+".spoilt") }

// lockDir makes this process the only agent in a folder, until the file is closed, which the kernel does for a process that
// is killed.
func lockDir(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if err == unix.EWOULDBLOCK {
			return nil, fmt.Errorf("%s: another agent uses it; end that one, or give this one a folder of its own", dir)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return file, nil
}

// unlockDir lets another agent use the folder. To close the file would not be enough at once: a program that is just being
// started has it, too, until it is there.
func unlockDir(lock *os.File) error {
	err := unix.Flock(int(lock.Fd()), unix.LOCK_UN)
	return errors.Join(err, lock.Close())
}

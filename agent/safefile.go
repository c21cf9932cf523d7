package agent

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// replaceFile writes a file so that it has its old content or the new one, whole, whenever power ends: a second file is
// written and synced, takes the name of the first, and the folder is synced.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		file.Close()
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	buffered := bufio.NewWriter(file)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

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

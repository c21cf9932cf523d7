package account

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/durable"
)

const (
	// lockPatience is how long a change waits for another process: none holds the lock for longer than it takes to
	// replace a file, unless it was stopped.
	lockPatience = 10 * time.Second
	lockRetry    = 5 * time.Millisecond
)

// withLock does something while no other Book of the folder, of this process or another, does anything with it. The kernel
// lets go of the lock when a process ends, however it does.
func withLock(owner durable.Owner, folder string, do func() error) error {
	path := filepath.Join(folder, lockFile)
	file, err := owner.Open(path, 0)
	if err != nil {
		return fmt.Errorf("open lock: %w", err)
	}
	defer file.Close()
	for start := time.Now(); ; time.Sleep(lockRetry) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock %s: %w", path, err)
		}
		if time.Since(start) > lockPatience {
			return ErrBusy
		}
	}
	// A program that this one is just starting has the file too until it runs: to close it is not to unlock it at once.
	defer func() { _ = unix.Flock(int(file.Fd()), unix.LOCK_UN) }()
	return do()
}

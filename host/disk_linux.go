package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A disk is tried with a file of diskBytes, or for diskTime each way: more than the caches of most disks, and short for who waits.
const (
	diskBytes = 512 << 20
	diskTime  = 4 * time.Second
	diskBlock = 1 << 20
	// diskBehind is how much of it may wait in memory: what is left when a caller has it end takes a second on a slow disk.
	diskBehind = 16 * diskBlock
)

// TryDisk returns what System.DiskRates does: it writes a file into a folder until it is on disk, reads it from there, and takes it away.
func TryDisk(folder string) func(context.Context) ([]DiskRate, error) {
	return func(ctx context.Context) ([]DiskRate, error) { return tryDisk(ctx, folder, diskBytes) }
}

func tryDisk(ctx context.Context, folder string, size int) (all []DiskRate, err error) {
	file, err := os.CreateTemp(folder, ".pathwise-disk-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	block := make([]byte, diskBlock)
	source := rand.NewChaCha8([32]byte{}) // what does not compress
	if _, err := io.ReadFull(source, block); err != nil {
		return nil, err
	}
	at := int64(0)
	write := func() (int, error) {
		n, err := file.Write(block)
		if err == nil {
			err = flushBehind(int(file.Fd()), at)
		}
		at += int64(n)
		return n, err
	}
	rate, err := tryBlocks(ctx, size, write, file.Sync)
	if err != nil {
		return nil, fmt.Errorf("write into %s: %w", folder, err)
	}
	all = []DiskRate{{folder, "write", rate}}
	if err := unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil { // else memory is what is read
		return all, fmt.Errorf("drop what is cached of a file in %s: %w", folder, err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return all, err
	}
	rate, err = tryBlocks(ctx, size, func() (int, error) { return file.Read(block) }, func() error { return nil })
	if err != nil {
		return all, fmt.Errorf("read from %s: %w", folder, err)
	}
	return append(all, DiskRate{folder, "read", rate}), nil
}

// flushBehind has the disk begin with the block at a place, and waits for the one that lies diskBehind before it. A file system that
// cannot is left to the end.
func flushBehind(fd int, at int64) error {
	const begin = unix.SYNC_FILE_RANGE_WRITE
	err := unix.SyncFileRange(fd, at, diskBlock, begin)
	if err == nil && at >= diskBehind {
		err = unix.SyncFileRange(fd, at-diskBehind, diskBlock, unix.SYNC_FILE_RANGE_WAIT_BEFORE|begin|unix.SYNC_FILE_RANGE_WAIT_AFTER)
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}

// tryBlocks does a block after the other up to a size, and what ends them, and says how fast that was in bit/s.
func tryBlocks(ctx context.Context, size int, do func() (int, error), end func() error) (rate float64, err error) {
	const bits = 8
	began, bytes := time.Now(), 0
	for bytes < size && time.Since(began) < diskTime {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		n, err := do()
		bytes += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	if err := end(); err != nil {
		return 0, err
	}
	return bits * float64(bytes) / time.Since(began).Seconds(), nil
}

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
)

// TryDisk returns what System.DiskRates does: it writes a file into a folder until it is on disk, reads it from there, and takes it away.
func TryDisk(folder string) func(context.Context) ([]DiskRate, error) {
	return func(ctx context.Context) ([]DiskRate, error) {
		file, err := os.CreateTemp(folder, ".pathwise-disk-*")
		if err != nil {
			return nil, err
		}
		defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
		block := make([]byte, diskBlock)
		for source, i := rand.NewChaCha8([32]byte{}), 0; i < len(block); { // what does not compress
			n, _ := source.Read(block[i:]) // it has no errors
			i += n
		}
		rate, err := tryBlocks(ctx, func() (int, error) { return file.Write(block) }, file.Sync)
		if err != nil {
			return nil, fmt.Errorf("write into %s: %w", folder, err)
		}
		all := []DiskRate{{folder, "write", rate}}
		if err := unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil { // else memory is what is read
			return all, fmt.Errorf("drop what is cached of a file in %s: %w", folder, err)
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return all, err
		}
		if rate, err = tryBlocks(ctx, func() (int, error) { return file.Read(block) }, func() error { return nil }); err != nil {
			return all, fmt.Errorf("read from %s: %w", folder, err)
		}
		return append(all, DiskRate{folder, "read", rate}), nil
	}
}

// tryBlocks does a block after the other, and what ends them, and says how fast that was in bit/s.
func tryBlocks(ctx context.Context, do func() (int, error), end func() error) (rate float64, err error) {
	const bits = 8
	began, bytes := time.Now(), 0
	for bytes < diskBytes && time.Since(began) < diskTime {
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

package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// behind is how much of what was written may wait in memory: what is left of it when a caller has it end takes a second on a slow disk.
	behind = 16 * Large
	// smallBehind is that of small blocks, which a disk that turns writes a hundred a second of.
	smallBehind = 64 * Small
)

// Try writes a file into a folder and reads it. The file has no name, so that nothing of it stays, however the program ends. What was measured before an
// error is returned with it. The end of ctx ends it after the block that is on its way.
func Try(ctx context.Context, folder string, limits Limits) ([]Rate, error) {
	var free unix.Statfs_t
	if err := unix.Statfs(folder, &free); err != nil {
		return nil, fmt.Errorf("read the room in %s: %w", folder, err)
	}
	limits = limits.withDefaults(int64(free.Bavail) * free.Bsize)
	if limits.Bytes < Large {
		return nil, fmt.Errorf("write into %s: less than %d bytes are free", folder, 2*Large)
	}
	return try(ctx, folder, limits)
}

func try(ctx context.Context, folder string, limits Limits) (all []Rate, err error) {
	file, err := nameless(folder)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := trial{file: file, fd: int(file.Fd()), limits: limits, block: aligned(Large)}
	source := rand.NewChaCha8([32]byte{}) // what does not compress
	if _, err := io.ReadFull(source, t.block); err != nil {
		return nil, err
	}
	t.random = rand.New(source)
	direct := setDirect(file, true) == nil
	for _, kind := range plan(direct) {
		if direct {
			if err := setDirect(file, kind.Direct); err != nil {
				return all, err
			}
		}
		done, err := t.do(ctx, kind)
		if err != nil {
			return all, fmt.Errorf("%s in %s: %w", kind.What(), folder, err)
		}
		all = append(all, done)
	}
	return all, nil
}

// nameless opens a new file that has no name in its folder (O_TMPFILE), or, where the file system has none such, takes the name away at once.
func nameless(folder string) (*os.File, error) {
	file, err := os.OpenFile(folder, unix.O_TMPFILE|os.O_RDWR, 0o600)
	if err == nil || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return file, err
	}
	if file, err = os.CreateTemp(folder, ".pathwise-disk-*"); err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// aligned returns n bytes that begin at a page, as direct access needs them.
func aligned(n int) []byte {
	b := make([]byte, n+Small)
	skip := (Small - int(uintptr(unsafe.Pointer(&b[0]))%Small)) % Small
	return b[skip : skip+n]
}

// trial is what is done with one file.
type trial struct {
	file   *os.File
	fd     int
	limits Limits
	block  []byte
	random *rand.Rand
	laid   int64 // bytes that the file has
}

// do does one kind of access until a limit is reached. What is read is of what was written before; the kernel forgets that first, so that the disk
// gives it and not memory.
func (t *trial) do(ctx context.Context, r Rate) (Rate, error) {
	if !r.Write {
		if err := unix.Fadvise(t.fd, 0, 0, unix.FADV_DONTNEED); err != nil {
			return r, err
		}
	}
	most := t.limits.Bytes
	if !r.Write || r.Random {
		most = t.laid
	}
	began := time.Now()
	for r.Bytes < most && time.Since(began) < t.limits.Each {
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		at := r.Bytes
		if r.Random {
			at = t.random.Int64N(t.laid/Small) * Small
		}
		n, err := t.move(r, at)
		r.Bytes += int64(n)
		if err != nil {
			return r, err
		}
	}
	if r.Write {
		if err := t.file.Sync(); err != nil {
			return r, err
		}
	}
	r.Seconds = time.Since(began).Seconds()
	if r.Write && !r.Random {
		t.laid = max(t.laid, r.Bytes)
	}
	return r, nil
}

// move reads or writes one block at a place.
func (t *trial) move(r Rate, at int64) (int, error) {
	block := t.block[:r.Block]
	if !r.Write {
		return t.file.ReadAt(block, at)
	}
	n, err := t.file.WriteAt(block, at)
	switch {
	case err != nil || r.Direct:
		return n, err
	case !r.Random:
		return n, flushBehind(t.fd, at)
	case r.Bytes/Small%(smallBehind/Small) == 0:
		return n, t.file.Sync()
	}
	return n, nil
}

// flushBehind has the disk begin with the block at a place, and waits for the one that lies behind bytes before it. A file system that
// cannot is left to the end.
func flushBehind(fd int, at int64) error {
	const begin = unix.SYNC_FILE_RANGE_WRITE
	err := unix.SyncFileRange(fd, at, Large, begin)
	if err == nil && at >= behind {
		err = unix.SyncFileRange(fd, at-behind, Large, unix.SYNC_FILE_RANGE_WAIT_BEFORE|begin|unix.SYNC_FILE_RANGE_WAIT_AFTER)
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}

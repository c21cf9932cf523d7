package disk

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// setDirect has a file read and written past the kernel's cache, or through it. A file system that cannot is EINVAL.
func setDirect(file *os.File, on bool) error {
	flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	flags &^= unix.O_DIRECT
	if on {
		flags |= unix.O_DIRECT
	}
	if _, err = unix.FcntlInt(file.Fd(), unix.F_SETFL, flags); err != nil {
		return fmt.Errorf("open %s past the cache: %w", file.Name(), err)
	}
	return nil
}

// Reader reads a file from its start, as the source of a transfer.
type Reader struct {
	file  *os.File
	block []byte // aligned; nil: the file is read through the cache
	left  []byte // of block, that nobody took yet
}

// NewReader reads a file, past the cache where direct says so. Close closes the file.
func NewReader(file *os.File, direct bool) (*Reader, error) {
	r := &Reader{file: file}
	if direct {
		r.block = aligned(Large)
		return r, setDirect(file, true)
	}
	return r, nil
}

// Read reads the next bytes, as io.Reader has it.
func (r *Reader) Read(p []byte) (int, error) {
	if r.block == nil {
		return r.file.Read(p)
	}
	if len(r.left) == 0 {
		n, err := r.file.Read(r.block)
		if err != nil {
			return 0, err
		}
		r.left = r.block[:n]
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Writer writes a file from its start, as the sink of a transfer. Through the cache it has the disk begin at once, and waits for what lies some
// blocks behind, so that a slow disk shows while data come, and not only at the end.
type Writer struct {
	file  *os.File
	most  int64  // bytes that may be written
	block []byte // aligned, of direct writing; nil: through the cache
	fill  int    // bytes in it
	at    int64  // of the file
	begun int64  // up to where the disk was told to begin
}

// NewWriter writes a file, past the cache where direct says so, and at most so many bytes; 0: no limit.
func NewWriter(file *os.File, direct bool, most int64) (*Writer, error) {
	w := &Writer{file: file, most: most}
	if direct {
		w.block = aligned(Large)
		return w, setDirect(file, true)
	}
	return w, nil
}

// Write writes all of a block, as io.Writer has it; beyond the limit it returns ErrFull.
func (w *Writer) Write(p []byte) (written int, err error) {
	if w.most > 0 && w.at+int64(w.fill+len(p)) > w.most {
		return 0, ErrFull
	}
	if w.block == nil {
		written, err = w.file.Write(p)
		w.at += int64(written)
		for err == nil && w.begun+Large <= w.at {
			err = flushBehind(int(w.file.Fd()), w.begun)
			w.begun += Large
		}
		return written, err
	}
	for len(p) > 0 {
		n := copy(w.block[w.fill:], p)
		w.fill, p, written = w.fill+n, p[n:], written+n
		if w.fill == len(w.block) {
			if err := w.flush(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

func (w *Writer) flush() error {
	n, err := w.file.Write(w.block[:w.fill])
	w.at, w.fill = w.at+int64(n), 0
	return err
}

// Close writes what is left, waits until all is on the disk, and closes the file.
func (w *Writer) Close() error {
	err := w.rest()
	if err == nil {
		err = w.file.Sync()
	}
	if failed := w.file.Close(); err == nil {
		err = failed
	}
	return err
}

// rest writes the end of the file, which is no whole block, through the cache.
func (w *Writer) rest() error {
	if w.fill == 0 {
		return nil
	}
	if err := setDirect(w.file, false); err != nil {
		return err
	}
	return w.flush()
}

var (
	_ io.ReadCloser  = (*Reader)(nil)
	_ io.WriteCloser = (*Writer)(nil)
)

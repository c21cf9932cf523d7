package account

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
)

// largestFile is more than a full accounts.json or sessions.json has: what is larger is none of ours.
const largestFile = 64 << 20

// latest is a file that others replace, read and parsed when it is another than before. It costs a stat a call.
//
// A file that was replaced has another inode: the one that was read is held open, so that its number is not given out
// again. Time and size are compared too, for somebody who edits the file in place.
type latest[T any] struct {
	path  string
	parse func(text []byte) (*T, error) // of nil: there is no file yet

	now atomic.Pointer[version[T]]
	mu  sync.Mutex // while reading
}

type version[T any] struct {
	file  *os.File // nil: there was none
	info  fs.FileInfo
	value *T
}

// get returns what the file holds now. Nobody may change it. A file that was there and is gone is an error: it was taken
// away, and that must not turn a controller into one without accounts.
func (l *latest[T]) get() (*T, error) {
	info, err := os.Stat(l.path)
	if v := l.now.Load(); v != nil && v.is(info, err) {
		return v.value, nil
	}
	return l.read()
}

func (v *version[T]) is(info fs.FileInfo, err error) bool {
	if v.file == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && os.SameFile(v.info, info) && v.info.ModTime().Equal(info.ModTime()) && v.info.Size() == info.Size()
}

func (l *latest[T]) read() (*T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.now.Load()
	v, err := l.open()
	if errors.Is(err, fs.ErrNotExist) && (old == nil || old.file == nil) {
		v.value, err = l.parse(nil)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.path, err)
	}
	l.now.Store(v)
	if old != nil && old.file != nil {
		old.file.Close()
	}
	return v.value, nil
}

// open reads the file and leaves it open.
func (l *latest[T]) open() (*version[T], error) {
	file, err := os.Open(l.path)
	if err != nil {
		return &version[T]{}, err
	}
	v := &version[T]{file: file}
	var text []byte
	if v.info, err = file.Stat(); err == nil {
		text, err = io.ReadAll(io.LimitReader(file, largestFile+1))
	}
	if err == nil && len(text) > largestFile {
		err = fmt.Errorf("larger than %d bytes", largestFile)
	}
	if err == nil {
		v.value, err = l.parse(text)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return v, nil
}

func (l *latest[T]) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := l.now.Load(); v != nil && v.file != nil {
		v.file.Close()
	}
	l.now.Store(nil)
}

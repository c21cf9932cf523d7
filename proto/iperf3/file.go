package iperf3

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/disk"
)

const (
	maxFileName = 1024
	// fileBlocks are what a receiver has of blocks: one that fills, one that is written, and one that waits between them.
	fileBlocks = 3
	// sinkLimit is how long the end of a test waits for the blocks that are not yet written: a disk that turns takes a tenth of a second for them.
	sinkLimit = 10 * time.Second
)

// FileExtra asks a server for a file.
type FileExtra struct {
	Name   string `json:"name"` // below the server's folder for files
	Direct bool   `json:"direct,omitempty"`
}

// HelloFile is a server's answer to a FileExtra.
type HelloFile struct {
	Bytes int64  `json:"bytes,omitempty"` // of a file that it sends
	Error string `json:"error,omitempty"` // why there is none
}

// checkFiles returns an error, bad input, for a sink or a far file that cannot be.
func (c *Config) checkFiles(udp bool) error {
	switch {
	case c.Sink != nil && (udp || !c.Reverse || c.Parallel > 1):
		return badConfig("sink", "given", "works for one TCP stream from server to client")
	case c.FarFile != "" && (udp || c.Bidir || c.Parallel > 1 || c.Omit > 0):
		return badConfig("far file", strconv.Quote(oneLine(c.FarFile)), "works for one TCP stream in one direction without omit")
	case c.FarFile != "" && (!filepath.IsLocal(c.FarFile) || len(c.FarFile) > maxFileName):
		return badConfig("far file", strconv.Quote(oneLine(c.FarFile)), "must be a name below the folder that the far end has for files")
	}
	return nil
}

// farFile checks the server's answer. A test of what it sends ends with the file, if not before.
func (r *clientRun) farFile(f *HelloFile) error {
	name := strconv.Quote(r.config.FarFile)
	switch {
	case f == nil:
		return badConfig("far file", name, "the far end is of a version that knows of no files: leave it out")
	case f.Error != "":
		return badConfig("far file", name, "the far end says: "+f.Error)
	case !r.config.Reverse:
		return nil
	case f.Bytes <= 0:
		return badConfig("far file", name, "it is empty: name one that is not")
	}
	if n := number(f.Bytes); r.t.params.Num == 0 || r.t.params.Num > n {
		r.t.params.Num = n
	}
	return nil
}

// farFile is the file of a test at the server.
type farFile struct {
	root   *os.Root
	name   string
	source *disk.Reader
	sink   *disk.Writer
}

// openFile opens the file that the client asked for. What it says of a failure has no more than the client said, and the reason.
func (s *serverTest) openFile() *HelloFile {
	f, bytes, err := openFarFile(s.server.policy.Files, s.params)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return &HelloFile{Error: err.Error()}
	}
	s.file = f
	return &HelloFile{Bytes: bytes}
}

// openFarFile opens a file below a folder, which os.Root keeps names and links inside of, and says how many bytes it has. One that is written is new,
// and may take half of what is free.
func openFarFile(root *os.Root, p Params) (*farFile, int64, error) {
	want := p.Pathwise.File
	switch {
	case root == nil:
		return nil, 0, errors.New("it has no folder for files (respond --files)")
	case bool(p.UDP || p.Bidir) || p.Parallel != 1 || p.Omit > 0 || len(want.Name) > maxFileName:
		return nil, 0, errors.New("a file is of one TCP stream in one direction")
	}
	f := &farFile{root: root, name: want.Name}
	if p.Reverse {
		file, err := root.OpenFile(want.Name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would wait for its writer
		if err != nil {
			return nil, 0, err
		}
		info, err := file.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("it is no regular file")
		}
		if err == nil {
			f.source, err = disk.NewReader(file, want.Direct)
		}
		if err != nil {
			file.Close()
			return nil, 0, err
		}
		return f, info.Size(), nil
	}
	file, err := root.OpenFile(want.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, 0, err
	}
	var free unix.Statfs_t
	if err = unix.Fstatfs(int(file.Fd()), &free); err == nil {
		f.sink, err = disk.NewWriter(file, want.Direct, max(1, int64(free.Bavail)*free.Bsize/2))
	}
	if err != nil {
		file.Close()
		return nil, 0, errors.Join(err, root.Remove(want.Name))
	}
	return f, 0, nil
}

// into has a transfer send the file, or write into it.
func (f *farFile) into(t *transfer) {
	switch {
	case f == nil:
	case f.source != nil:
		t.source = f.source
	default:
		t.sink = f.sink
	}
}

// close closes the file; what was written is removed.
func (f *farFile) close(log *slog.Logger) {
	if f == nil {
		return
	}
	var err error
	if f.source != nil {
		err = f.source.Close()
	} else {
		err = errors.Join(f.sink.Close(), f.root.Remove(f.name))
	}
	if err != nil {
		log.Warn("iperf3 file", "error", err)
	}
}

// SinkError is a failure of what a receiver writes into.
type SinkError struct{ Err error }

func (e *SinkError) Error() string { return "write what came: " + e.Err.Error() }

// Unwrap returns the sink's own error.
func (e *SinkError) Unwrap() error { return e.Err }

// receiveInto writes what comes into the sink until end of file or the end of the test:
//
//	socket -> block that fills -> full -> writer -> empty -> block that fills next
//
// The time in which there is no empty block is what the connection waits for the sink. It returns when the writer has ended, however the test ends,
// since the sink is closed then; only one that writes nothing for sinkLimit is left alone.
func (t *transfer) receiveInto(s *stream) error {
	full, empty, failed := make(chan []byte, fileBlocks), make(chan []byte, fileBlocks), make(chan error, 1)
	for range fileBlocks - 1 {
		empty <- make([]byte, disk.Large)
	}
	go func() {
		defer close(failed)
		for b := range full {
			if _, err := t.sink.Write(b); err != nil {
				failed <- &SinkError{err}
				return
			}
			empty <- b[:cap(b)]
		}
	}()
	block, fill := make([]byte, disk.Large), 0
	err := t.fillBlocks(s, block, &fill, func() ([]byte, error) {
		full <- block[:fill]
		asked := time.Now()
		defer func() { s.fileWait.Add(int64(time.Since(asked))) }()
		select {
		case block = <-empty:
			return block, nil
		case err := <-failed:
			return nil, err
		}
	})
	if err == nil && fill > 0 {
		full <- block[:fill]
	}
	close(full)
	select {
	case unwritten := <-failed: // nil where all was written, and where err is why it was not
		return cmp.Or(err, unwritten)
	case <-time.After(sinkLimit):
		return cmp.Or(err, error(&SinkError{os.ErrDeadlineExceeded}))
	}
}

// sinkFailure is why the end of what came could not be written, after the receiver has ended; nil: it was.
func (t *transfer) sinkFailure() error {
	select {
	case err := <-t.failed:
		if sink := new(SinkError); errors.As(err, &sink) {
			return err
		}
	default:
	}
	return nil
}

// fillBlocks reads into one block after another, each of which next takes when it is full, until the end; then what the kernel still holds, and no more.
func (t *transfer) fillBlocks(s *stream, block []byte, fill *int, next func() ([]byte, error)) (err error) {
	add := func(n int) error {
		t.got(s, n)
		if *fill += n; *fill < len(block) {
			return nil
		}
		block, err = next()
		*fill = 0
		return err
	}
	for !t.deaf.Load() {
		n, err := s.tcp.Read(block[*fill:])
		if n > 0 {
			if err := add(n); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ended(err):
		case err != nil:
			return err
		}
	}
	held, err := heldBytes(s.raw)
	for err == nil && held > 0 {
		n := 0
		if failed := s.raw.Control(func(fd uintptr) { n, err = unix.Read(int(fd), block[*fill:min(len(block), *fill+held)]) }); failed != nil || n <= 0 {
			return nil // the connection is gone, and with it the data
		}
		held -= n
		if err := add(n); err != nil {
			return err
		}
	}
	return nil
}

// heldBytes is what the kernel has of a stream that nobody read.
func heldBytes(raw syscall.RawConn) (held int, err error) {
	if failed := raw.Control(func(fd uintptr) { held, err = unix.IoctlGetInt(int(fd), unix.SIOCINQ) }); failed != nil {
		return 0, fmt.Errorf("look at a stream: %w", failed)
	}
	return held, err
}

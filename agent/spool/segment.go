package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const suffix = ".log"

// segment is one file of the log.
type segment struct {
	number uint64
	path   string
	file   *os.File // nil: not written to any more
	size   int64
	live   int64 // bytes of frames that still count
}

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016d%s", number, suffix))
}

// newSegment makes a file that is still there after a power cut.
func newSegment(dir string, number uint64) (*segment, error) {
	path := segmentPath(dir, number)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syncDir(dir); err != nil {
		file.Close()
		return nil, err
	}
	return &segment{number: number, path: path, file: file}, nil
}

// write appends frames. What an unsuccessful one leaves behind the last whole frame is overwritten by the next.
func (s *segment) write(frames []byte) error {
	if _, err := s.file.WriteAt(frames, s.size); err != nil {
		_ = s.file.Truncate(s.size)
		return err
	}
	s.size += int64(len(frames))
	return nil
}

func (s *segment) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// segmentNumbers lists the segments in a folder, oldest first.
func segmentNumbers(dir string) ([]uint64, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), suffix)
		if number, err := strconv.ParseUint(name, 10, 64); ok && err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// syncDir makes names in a folder survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

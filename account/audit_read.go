package account

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/input"
)

// AuditPage is a piece of the audit log.
type AuditPage struct {
	Entries []Entry // newest first
	Next    string  // asks Audit for those before; empty: there are none
}

// mostEntries are on one page.
const mostEntries = 1000

// Audit returns up to limit entries (at most 1000) before those that a page ended with, or the newest for before "".
// Pages do not shift when lines are added. What is no entry, such as a line that a killed process did not finish, is
// passed over.
func (b *Book) Audit(before string, limit int) (AuditPage, error) {
	at, err := parsePlace(before)
	if err != nil {
		return AuditPage{}, err
	}
	if limit < 1 || limit > mostEntries {
		return AuditPage{}, input.Errorf("limit %d: want 1 to %d", limit, mostEntries)
	}
	numbers, err := b.audit.numbers()
	if err != nil {
		return AuditPage{}, fmt.Errorf("read audit log: %w", err)
	}
	page := AuditPage{Entries: []Entry{}}
	for _, number := range slices.Backward(numbers) {
		if before != "" && number > at.file {
			continue
		}
		end := int64(-1) // its own
		if before != "" && number == at.file {
			end = at.offset
		}
		err := readFileBack(b.audit.path(number), end, func(line []byte, start int64) bool {
			if len(page.Entries) == limit {
				page.Next = place{number, start + int64(len(line)) + 1}.String()
				return false
			}
			if e, err := parseEntry(line); err == nil {
				page.Entries = append(page.Entries, e)
			}
			return true
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed just now, being the oldest
			return AuditPage{}, fmt.Errorf("read audit log: %w", err)
		}
		if page.Next != "" {
			break
		}
	}
	return page, nil
}

// place is the end of a line in the log.
type place struct {
	file   int
	offset int64
}

func (p place) String() string { return fmt.Sprintf("%d.%d", p.file, p.offset) }

func parsePlace(text string) (p place, err error) {
	if text == "" {
		return place{}, nil
	}
	file, offset, _ := strings.Cut(text, ".")
	p.file, err = strconv.Atoi(file)
	if err == nil {
		p.offset, err = strconv.ParseInt(offset, 10, 64)
	}
	if err != nil || p.file < 1 || p.offset < 0 || p.String() != text {
		return place{}, input.Errorf("before %.80q: want what the page before has as next", text)
	}
	return p, nil
}

// parseEntry reads a line of the log. A newer release may have added fields.
func parseEntry(line []byte) (e Entry, err error) {
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{}, err
	}
	if e.What == "" || e.Time.IsZero() {
		return Entry{}, errors.New("want a time and what was done")
	}
	return e, nil
}

// readBlock is how much of a file is read at a time: a page or two.
const readBlock = 256 << 10

// readFileBack is readBack of a file; end less than 0 is the file's.
func readFileBack(path string, end int64, each func(line []byte, start int64) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if end < 0 || end > info.Size() {
		end = info.Size()
	}
	return readBack(file, end, make([]byte, min(end, readBlock)), each)
}

// readBack calls each for every line that ends at or before end, the last one first, until each returns false. A line
// without its end is none yet; one that is longer than the block is passed over.
func readBack(file io.ReaderAt, end int64, block []byte, each func(line []byte, start int64) bool) error {
	for end > 0 {
		start := max(0, end-int64(len(block)))
		text := block[:end-start]
		if _, err := file.ReadAt(text, start); err != nil {
			return err
		}
		if start > 0 { // begin with a whole line
			first := bytes.IndexByte(text, '\n') + 1
			if first == 0 || first == len(text) { // one longer than a block: not ours
				end = start
				continue
			}
			text, start = text[first:], start+int64(first)
		}
		if !eachBack(text, start, each) {
			return nil
		}
		end = start
	}
	return nil
}

func eachBack(text []byte, start int64, each func(line []byte, start int64) bool) bool {
	for text = text[:bytes.LastIndexByte(text, '\n')+1]; len(text) > 0; {
		at := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
		if !each(text[at:len(text)-1], start+int64(at)) {
			return false
		}
		text = text[:at]
	}
	return true
}

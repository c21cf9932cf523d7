package account

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pathwise-net/pathwise/durable"
)

// Entry is a line of the audit log: who did what. Whoever fills one in sees to it that no secret is in it.
type Entry struct {
	Time    time.Time  `json:"time"`
	Who     string     `json:"who,omitempty"` // account or token; empty: owner, public, or a name that there is not
	Kind    Kind       `json:"kind"`
	From    netip.Addr `json:"from,omitzero"`
	What    string     `json:"what"`
	On      string     `json:"on,omitempty"` // the account, token, test or file that it was done to
	Outcome string     `json:"outcome"`      // ok; asked, before it was tried; denied, or what went wrong
	Skipped int        `json:"skipped,omitempty"`
}

// NewEntry returns the line of what an actor did.
func NewEntry(by Actor, what, on, outcome string) Entry {
	return Entry{Who: by.Name, Kind: by.Kind, From: by.From, What: what, On: on, Outcome: outcome}
}

func (a act) entry(outcome string) Entry { return NewEntry(a.by, a.what, a.on, outcome) }

// audit is the log: files of lines, numbered, of which the last is written to. Any process may write, one at a time.
type audit struct {
	folder  string
	owner   durable.Owner
	bytes   int64 // of a file
	files   int
	writing sync.Mutex // lines of this process

	mu      sync.Mutex
	hour    time.Time // that refusals are counted in
	count   int
	skipped int
}

const (
	// auditBytes and auditFiles bound the log: 128 MB, half a million lines.
	auditBytes = 8 << 20
	auditFiles = 16
	// longestField keeps a line below 8 kB, whatever it is about and however much of it JSON escapes.
	longestField = 256
	// refusalsAnHour are how many refused attempts are written down: what strangers do must not push out what people
	// did. At this pace the log lasts for 200 days. How many were not is in the next that is.
	refusalsAnHour = 100
)

// Note writes an entry down, now if it has no time, and returns when it is on disk: an act that must not go unrecorded is
// noted first, and not done after an error. One fsync a line is what that costs; people act a few times a minute.
func (b *Book) Note(e Entry) error {
	if e.Time.IsZero() {
		e.Time = b.now()
	}
	if err := b.audit.append(e.line()); err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

func (e Entry) line() []byte {
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	for _, field := range []*string{&e.Who, &e.What, &e.On, &e.Outcome} {
		*field = clip(*field)
	}
	line, err := json.Marshal(e)
	if err != nil { // a year beyond 9999
		line = []byte(`{}`)
	}
	return append(line, '\n')
}

// clip shortens a text to longestField bytes, at the end of a character.
func clip(s string) string {
	if len(s) <= longestField {
		return s
	}
	s = s[:longestField]
	for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s[:max(0, len(s)-1)] + "…"
}

// Refused notes an attempt that was refused, if not too many were in this hour. It changes nothing, so that a log that
// cannot be written is no reason to answer otherwise.
func (b *Book) Refused(e Entry) {
	now := b.now()
	b.audit.mu.Lock()
	if hour := now.Truncate(time.Hour); !hour.Equal(b.audit.hour) {
		b.audit.hour, b.audit.count = hour, 0
	}
	if b.audit.count >= refusalsAnHour {
		b.audit.skipped++
		b.audit.mu.Unlock()
		return
	}
	b.audit.count++
	e.Skipped, b.audit.skipped = b.audit.skipped, 0
	b.audit.mu.Unlock()
	if err := b.Note(e); err != nil {
		b.log.Warn("an attempt was refused", "from", e.From, "what", e.What, "error", err)
	}
}

// append adds a line and puts it on disk. A line that a process did not finish, being killed, is ended first, so that it
// spoils no other; one that the disk did not take whole is taken back.
func (a *audit) append(line []byte) error {
	a.writing.Lock()
	defer a.writing.Unlock()
	return withLock(a.owner, a.folder, func() (err error) {
		file, made, err := a.last(int64(len(line)))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		size, whole, err := endOf(file)
		if err != nil {
			return err
		}
		if !whole {
			line = append([]byte{'\n'}, line...)
		}
		_, err = file.Write(line)
		if err == nil {
			err = file.Sync()
		}
		if err == nil && made {
			err = durable.Sync(a.folder)
		}
		if err != nil {
			return errors.Join(err, file.Truncate(size))
		}
		return nil
	})
}

// last opens the file that has room for a line, and makes it if there is none, with the oldest removed that is too many.
func (a *audit) last(length int64) (file *os.File, made bool, err error) {
	numbers, err := a.numbers()
	if err != nil {
		return nil, false, err
	}
	number := 1
	if len(numbers) > 0 {
		number = numbers[len(numbers)-1]
		info, err := os.Stat(a.path(number))
		if err != nil {
			return nil, false, err
		}
		if info.Size()+length+1 > a.bytes {
			number++
		}
	}
	made = !slices.Contains(numbers, number)
	for ; made && len(numbers) >= a.files; numbers = numbers[1:] {
		if err := os.Remove(a.path(numbers[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
	}
	file, err = a.owner.Open(a.path(number), os.O_APPEND)
	return file, made, err
}

// endOf returns the size of a file, and whether its last line has its end.
func endOf(file *os.File) (size int64, whole bool, err error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return 0, true, err
	}
	var b [1]byte
	_, err = file.ReadAt(b[:], info.Size()-1)
	return info.Size(), b[0] == '\n', err
}

func (a *audit) path(number int) string {
	return filepath.Join(a.folder, fmt.Sprintf("%010d.log", number))
}

// numbers returns those of the files that there are, ascending.
func (a *audit) numbers() ([]int, error) {
	files, err := os.ReadDir(a.folder)
	if err != nil {
		return nil, err
	}
	var all []int
	for _, f := range files {
		digits, ok := strings.CutSuffix(f.Name(), ".log")
		if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 && a.path(n) == filepath.Join(a.folder, f.Name()) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

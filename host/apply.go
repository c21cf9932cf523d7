package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/input"
)

// Backup is what was there before Apply changed it, in the order in which it was changed.
type Backup struct {
	Schema  string    `json:"schema"`
	Host    string    `json:"host"`
	Made    time.Time `json:"made"`
	Changed []Changed `json:"changed"`
}

// BackupSchema names the document that a Backup is.
const BackupSchema = "pathwise.host-backup/1"

// Changed is a Change that was made, and what was there before.
type Changed struct {
	Change
	Was   string `json:"was"`
	None  bool   `json:"none,omitempty"`  // there was no such file
	Error string `json:"error,omitempty"` // why it was not made, or not undone
}

// mostBackup is more than the changes of any machine take.
const mostBackup = 4 << 20

// Changes are those that make all checks that are bad as they should be.
func (r *Report) Changes() (all []Change) {
	for _, c := range r.Checks {
		all = append(all, c.Changes...)
	}
	return all
}

// Apply makes changes, after what they replace is on disk in a backup. What an earlier backup has of a key stays: Revert goes back to what
// was there before the first Apply. With persist the settings among them are written into one file that the machine reads when it starts.
// What was done is returned, with what could not be done, and the joined errors of that.
func (s System) Apply(changes []Change, backup string, persist bool) ([]Changed, error) {
	b, err := s.loadBackup(backup)
	if errors.Is(err, fs.ErrNotExist) {
		b, err = &Backup{Schema: BackupSchema, Host: s.word("proc/sys/kernel/hostname"), Made: time.Now().UTC()}, nil
	}
	if err != nil {
		return nil, err
	}
	if persist {
		if c, some := s.persisted(changes); some {
			changes = append(slices.Clone(changes), c)
		}
	}
	done := make([]Changed, len(changes))
	for i, c := range changes {
		done[i] = s.former(c)
		known := slices.ContainsFunc(b.Changed, func(o Changed) bool { return o.same(c) })
		if done[i].Error == "" && !known {
			b.Changed = append(b.Changed, done[i])
		}
	}
	if err := b.write(backup); err != nil {
		return nil, fmt.Errorf("write backup, before which nothing was changed: %w", err)
	}
	var failed []error
	for i := range done {
		if done[i].Error == "" {
			if err := s.set(done[i].Change, done[i].To); err != nil {
				done[i].Error = err.Error()
			}
		}
		if done[i].Error != "" {
			failed = append(failed, fmt.Errorf("set %s: %s", done[i].Name(), done[i].Error))
		}
	}
	return done, errors.Join(failed...)
}

// Revert writes back what a backup has, the last change first, and removes the backup when all is as it was. What cannot be written back
// stays in it. What was done is returned, with the joined errors.
func (s System) Revert(backup string) ([]Changed, error) {
	b, err := s.loadBackup(backup)
	if err != nil {
		return nil, err
	}
	var done, left []Changed
	var failed []error
	for _, c := range slices.Backward(b.Changed) {
		if err := s.restore(c); err != nil {
			c.Error = err.Error()
			failed = append(failed, fmt.Errorf("set %s back: %w", c.Name(), err))
			left = append(left, c)
		}
		done = append(done, c)
	}
	if len(left) > 0 {
		slices.Reverse(left)
		b.Changed = left
		return done, errors.Join(append(failed, b.write(backup))...)
	}
	err = os.Remove(backup)
	if err == nil {
		err = durable.Sync(filepath.Dir(backup))
	}
	if err != nil {
		return done, fmt.Errorf("remove backup, all of which is written back: %w", err)
	}
	return done, nil
}

// restore writes back what was there, and reads whether it is.
func (s System) restore(c Changed) error {
	if c.None {
		if err := os.Remove(s.path(c.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := s.set(c.Change, c.Was); err != nil {
		return err
	}
	if now := s.former(c.Change); now.Error != "" || now.Was != c.Was {
		return fmt.Errorf("it is %q now, and was %q: %s", now.Was, c.Was, now.Error)
	}
	return nil
}

// former reads what a change replaces.
func (s System) former(c Change) Changed {
	one := Changed{Change: c}
	var err error
	switch {
	case c.Setting != "":
		one.Was, err = s.GetLink(c.Link, c.Setting)
	case c.File == settingsFile:
		if one.Was, err = s.read(c.File); errors.Is(err, fs.ErrNotExist) {
			one.None, err = true, nil
		}
	default:
		one.Was, err = s.read(c.File)
		one.Was = strings.TrimSuffix(one.Was, "\n") // which the kernel adds
	}
	if err != nil {
		one.Error = err.Error()
	}
	return one
}

// set makes one change.
func (s System) set(c Change, to string) error {
	if c.Setting != "" {
		return s.SetLink(c.Link, c.Setting, to)
	}
	if c.File == settingsFile {
		if err := os.MkdirAll(filepath.Dir(s.path(c.File)), 0o755); err != nil {
			return err
		}
		return durable.Write(s.path(c.File), []byte(to))
	}
	file, err := os.OpenFile(s.path(c.File), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(to + "\n")
	return errors.Join(err, file.Close())
}

// persisted is the change of the file of settings: those that it has already stay, unless they are among the changes.
func (s System) persisted(changes []Change) (Change, bool) {
	text, _ := s.read(settingsFile) // there may be none yet
	all := parseSysctlFile(text)
	some := false
	for _, c := range changes {
		if c.Sysctl != "" {
			all[c.Sysctl], some = c.To, true
		}
	}
	var b strings.Builder
	b.WriteString("# Written by pathwise host --apply --persist; pathwise host --revert takes it away.\n")
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s = %s\n", key, all[key])
	}
	return Change{File: settingsFile, To: b.String()}, some
}

// loadBackup reads a backup. One that names a file beside the kernel's settings is refused: root writes what it says.
func (s System) loadBackup(path string) (*Backup, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	var b Backup
	if err := document.JSON([]byte(text), mostBackup, &b); err != nil {
		return nil, fmt.Errorf("read backup %s: %w", path, err)
	}
	if b.Schema != BackupSchema {
		return nil, input.Errorf("%s: schema %q: want %s", path, b.Schema, BackupSchema)
	}
	for _, c := range b.Changed {
		if err := c.check(); err != nil {
			return nil, input.Errorf("%s: %w", path, err)
		}
	}
	return &b, nil
}

func (b *Backup) write(path string) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return durable.Write(path, append(text, '\n'))
}

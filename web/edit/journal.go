package edit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
)

// journalName is a file beside the mesh files, which nobody takes for one of them, while several are being replaced.
const journalName = ".pathwise-saving"

// step is what is to become of one file.
type step struct {
	Name string  `json:"name"`
	Was  *string `json:"was"`  // nil: it was not there
	Text *string `json:"text"` // nil: it is to be removed
}

// stepsOf are the files that change, those that are removed last.
func stepsOf(from, to []File) (steps []step) {
	for _, f := range to {
		if was, there := textOf(from, f.Name); !there {
			steps = append(steps, step{f.Name, nil, &f.Text})
		} else if was != f.Text {
			steps = append(steps, step{f.Name, &was, &f.Text})
		}
	}
	for _, f := range from {
		if _, stays := textOf(to, f.Name); !stays {
			steps = append(steps, step{f.Name, &f.Text, nil})
		}
	}
	return steps
}

// replace makes the files on disk those of a version. After an error they are as they were; or half of them are, which the
// next Recover mends.
func (b *Book) replace(from, to []File) (half bool, err error) {
	folder, steps := folderOf(b.options.Mesh), stepsOf(from, to)
	for _, s := range steps {
		if err := b.writable(filepath.Join(folder, s.Name)); err != nil {
			return false, err
		}
	}
	if len(steps) == 1 {
		return false, b.take(folder, steps[0])
	}
	journal := filepath.Join(folder, journalName)
	text, err := json.Marshal(steps)
	if err != nil {
		return false, err
	}
	if err := b.options.replace(journal, text); err != nil {
		return false, plain(journalName, err)
	}
	b.torn = true
	for i, s := range steps {
		if err := b.take(folder, s); err != nil {
			if worse := b.takeBack(folder, steps[:i+1]); worse != nil {
				return true, fmt.Errorf("%w; nor can all be put back: %w; "+
					"when that is mended, a start of the controller or saving again finishes it", err, worse)
			}
			return false, errors.Join(err, end(journal))
		}
	}
	if err := end(journal); err != nil {
		b.options.Log.Error("save mesh file", "error", err) // all the same, it is saved
	}
	return false, nil
}

// takeBack undoes steps, as far as they were taken.
func (b *Book) takeBack(folder string, steps []step) error {
	for _, s := range steps {
		if now, err := textNow(folder, s.Name); err == nil && same(now, s.Was) {
			continue
		}
		if err := b.take(folder, step{s.Name, s.Text, s.Was}); err != nil {
			return err
		}
	}
	return nil
}

// take takes one step. What fails after the file is the new one, such as syncing its folder, is no more than logged.
func (b *Book) take(folder string, s step) error {
	err := take(folder, s, b.options.replace)
	if err == nil {
		return nil
	}
	if now, unread := textNow(folder, s.Name); unread == nil && same(now, s.Text) {
		b.options.Log.Error("save mesh file", "error", err)
		return nil
	}
	return err
}

// take takes one step. A file that is a link is replaced where it leads.
func take(folder string, s step, replace func(string, []byte) error) error {
	path := filepath.Join(folder, s.Name)
	if s.Text == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return plain(s.Name, err)
		}
		return plain(s.Name, durable.Sync(folder))
	}
	return plain(s.Name, replace(target(path), []byte(*s.Text)))
}

// target is where a link leads, and else the path itself.
func target(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// end removes a journal.
func end(journal string) error {
	err := os.Remove(journal)
	if errors.Is(err, fs.ErrNotExist) { // another start of the controller did
		err = nil
	}
	return plain(journalName, errors.Join(err, durable.Sync(filepath.Dir(journal))))
}

// folderOf is where a mesh file lies, or the folder of mesh files itself.
func folderOf(mesh string) string {
	if info, err := os.Stat(mesh); err == nil && info.IsDir() {
		return mesh
	}
	return filepath.Dir(mesh)
}

// Recover finishes a Save that was killed: to be called before the mesh files are read for the first time. A file that
// somebody changed since is left as it is.
func Recover(mesh string) error {
	folder := folderOf(mesh)
	journal := filepath.Join(folder, journalName)
	text, err := os.ReadFile(journal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finish saving mesh files: %w", plain(journalName, err))
	}
	var steps []step
	if err := document.JSON(text, 16*MaxTotal, &steps); err != nil {
		return fmt.Errorf("finish saving mesh files: %s is damaged: see whether they are right, then remove it: %w", journalName, err)
	}
	for _, s := range steps {
		if err := checkName(s.Name); err != nil { // it is not ours, then
			return fmt.Errorf("finish saving mesh files: %s: %w", journalName, err)
		}
		now, err := textNow(folder, s.Name)
		if err != nil {
			return fmt.Errorf("finish saving mesh files: %w", err)
		}
		if !same(now, s.Was) {
			continue // it is what it is to be, or somebody else changed it
		}
		if err := take(folder, s, durable.Rewrite); err != nil {
			return fmt.Errorf("finish saving mesh files: %w", err)
		}
	}
	return end(journal)
}

// textNow is what a file holds; nil: there is none.
func textNow(folder, name string) (*string, error) {
	text, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	now := string(text)
	return &now, plain(name, err)
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

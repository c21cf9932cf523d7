package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ReadOnly is a mesh file, or its folder, that is not this process's to write: nothing can be saved here.
type ReadOnly struct {
	What string // the file's name, or the folder of it
	Err  error  // what the system says
}

func (r *ReadOnly) Error() string {
	return fmt.Sprintf("the controller may not write %s: %v", r.What, r.Err)
}

func (r *ReadOnly) Unwrap() error { return r.Err }

// writable says why a file cannot be replaced: as a new one is renamed into its folder, that must be writable, too. A file
// that is marked read-only is left alone.
func (b *Book) writable(path string) error {
	name, path := filepath.Base(path), target(path)
	if err := b.options.access(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &ReadOnly{name, err}
	}
	if err := b.options.access(filepath.Dir(path)); err != nil {
		return &ReadOnly{"the folder of " + name, err}
	}
	return nil
}

// readOnly says why nothing can be saved; "": something can.
func (b *Book) readOnly() string {
	var err error
	if !b.folder {
		err = b.writable(b.options.Mesh)
	} else if denied := b.options.access(b.options.Mesh); denied != nil {
		err = &ReadOnly{"the folder " + filepath.Base(b.options.Mesh), denied}
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// mayWrite asks the system.
func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }

package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/config"
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

// Outward is a change that a program with a token may not make: of what leads out of the controller's machine, such as where
// metrics are pushed to, which programs hosts run, and which files hold secrets.
type Outward struct {
	Keys []string // that would change; none: what is on disk has errors, so that it cannot be told
}

func (o *Outward) Error() string {
	const who = "an administrator who signed in on the page Configuration can, or whoever edits the file on the controller's machine"
	if len(o.Keys) == 0 {
		return "the mesh file on disk has errors, which a token may not mend: " + who
	}
	keys, more := o.Keys, ""
	if n := len(keys) - maxNamed; n > 0 {
		keys, more = keys[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(keys, ", ") + more + ": a token may not change what leads out of the controller's machine: " + who
}

// refuseOutward returns an *Outward if a mesh leads out of the controller's machine otherwise than the version that it began from.
func (b *Book) refuseOutward(ctx context.Context, from string, to *config.Mesh) error {
	now, before, err := b.known()
	if err != nil {
		return err
	}
	version := versionOf(now)
	if version != from {
		return ErrStale
	}
	if before.version != version {
		if before, err = b.judgeInTurn(ctx, now); err != nil {
			return err
		}
	}
	return outward(before.mesh, to)
}

// outward returns an *Outward, or nil. from is nil if what is on disk has errors.
func outward(from, to *config.Mesh) error {
	if from == nil {
		return &Outward{}
	}
	if keys := to.Outward(from); len(keys) > 0 {
		return &Outward{keys}
	}
	return nil
}

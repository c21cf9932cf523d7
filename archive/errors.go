package archive

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/pathwise-net/pathwise/input"
)

// What a caller can tell apart with errors.Is.
var (
	// ErrUnknown: no Result of this ID is filed, or not any more.
	ErrUnknown = errors.New("no such result in the archive")
	// ErrFull: the disk, or what the archive may use of it, is full. Nothing that was acknowledged is lost; the same call
	// succeeds when there is space.
	ErrFull = errors.New("the archive's disk is full: free some space, or keep less (retention)")
	// ErrNewer: the database was written by a newer Pathwise.
	ErrNewer = errors.New("the archive was written by a newer Pathwise: use that one")
	// ErrInUse: another process has the archive open.
	ErrInUse = errors.New("the archive is open in another process")
	// ErrNotEmpty: there is something where a Backup was to be restored.
	ErrNotEmpty = errors.New("the archive is not empty: restore into a new one")
	// ErrHalfRestored: a Restore was broken off. What it had read is there, what it had not is not.
	ErrHalfRestored = errors.New("the archive was not restored to the end: delete it and restore again")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("the archive is closed")
)

// errBetween: the tables have the version of a release, and not its layout.
var errBetween = errors.New("the archive is of a version between two releases: restore a backup, or begin anew")

// Invalid says which value cannot be filed, and what would be right. It stays so however often it is put.
type Invalid struct {
	ID    string // of the Result or run
	Field string
	Value string
	Want  string
}

// Error is one line.
func (e *Invalid) Error() string {
	return fmt.Sprintf("result %q: %s is %q, want %s", e.ID, e.Field, e.Value, e.Want)
}

// BadInput tells that the fault is in what was given.
func (e *Invalid) BadInput() bool { return true }

// badOption says which setting of an archive cannot be used.
func badOption(field, value, want string) error {
	return input.Errorf("archive: %s is %q, want %s", field, value, want)
}

// brokenError is a panic while the archive did something, of which nothing is left: a defect of Pathwise that some value brings out.
// What else is put goes on being filed.
type brokenError struct {
	What  string // that was being done
	Panic any
	stack []byte
}

// Error is one line.
func (b *brokenError) Error() string { return fmt.Sprintf("to %s panics: %v", b.What, b.Panic) }

// Stack is where it happened. Whoever files may keep it beside what brought it out.
func (b *brokenError) Stack() []byte { return b.stack }

// safely does a part of the work of one of the archive's goroutines. A panic of it is logged with its stack, and returned as a
// *brokenError: it must not end the controller.
func (k *keeper) safely(what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			b := &brokenError{what, p, debug.Stack()}
			k.options.Log.Error("the archive has a defect", "error", b, "stack", string(b.stack))
			err = b
		}
	}()
	return do()
}

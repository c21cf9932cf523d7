package archive

import (
	"fmt"
	"runtime/debug"
)

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

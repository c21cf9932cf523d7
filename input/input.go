// Package input says what is wrong with what a person gave: a flag, a line of a file, a part of a request. The program ends with exit
// status 2 then, and the API answers 422. An error type with a method BadInput that says true counts as such, whichever package it is of.
package input

import (
	"errors"
	"fmt"
)

// Error is a value that cannot be: of which field, and what to do about it.
type Error struct{ Field, Value, Remedy string }

func (e *Error) Error() string { return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Remedy) }

// BadInput marks the error as the caller's to mend.
func (e *Error) BadInput() bool { return true }

// worded is such an error in words of its own.
type worded struct{ error }

func (worded) BadInput() bool  { return true }
func (w worded) Unwrap() error { return w.error }

// Errorf is fmt.Errorf for what is the caller's to mend. The text names field and value, and says what would be right.
func Errorf(format string, args ...any) error { return worded{fmt.Errorf(format, args...)} }

// Bad says whether an error is the caller's to mend.
func Bad(err error) bool {
	var bad interface{ BadInput() bool }
	return errors.As(err, &bad) && bad.BadInput()
}

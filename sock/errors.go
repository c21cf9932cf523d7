package sock

import "fmt"

// InputError is a request that cannot be met because of what was asked for, not because of the network: the field,
// the value that it was given, and what would be right.
type InputError struct {
	Field  string
	Value  string
	Remedy string
}

func (e *InputError) Error() string { return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Remedy) }

// BadInput marks the error as one of the caller's making (exit status 2).
func (e *InputError) BadInput() bool { return true }

// PermissionError is an operation that the kernel allows only to others, and how to become one of them.
type PermissionError struct {
	Op     string
	Remedy string
	Err    error
}

func (e *PermissionError) Error() string { return fmt.Sprintf("%s: %v; %s", e.Op, e.Err, e.Remedy) }

func (e *PermissionError) Unwrap() error { return e.Err }

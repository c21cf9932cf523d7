package main

import (
	"io"
	"sync"
)

// checkedWriter remembers the first error of an output, so that what could not be printed does not end as if it were: few who print look at
// each line's own.
type checkedWriter struct {
	out io.Writer

	mu  sync.Mutex
	err error
}

func (w *checkedWriter) Write(b []byte) (int, error) {
	n, err := w.out.Write(b)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.err == nil {
			w.err = err
		}
	}
	return n, err
}

// Unwrap returns what is written to.
func (w *checkedWriter) Unwrap() io.Writer { return w.out }

func (w *checkedWriter) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

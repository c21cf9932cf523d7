package fleet

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
)

// ErrAway says that the other end is not connected, so nothing was sent.
var ErrAway = errors.New("away: not connected")

// ErrNoAnswer says that an order was sent and nothing came back in time: whether it was done is not known.
var ErrNoAnswer = errors.New("no answer")

// ErrBehind says that the controller has too much of this host's, or of all, waiting for its archive: deliver again later.
var ErrBehind = errors.New("the controller is behind: results wait for its archive")

// ErrKeyRefused says that the server knows no such key: it was withdrawn, or a newer one was made for the host.
var ErrKeyRefused = errors.New("the controller refuses this host's key: deploy the host again")

// Refusal is the answer of a host that got an order and would not do it.
type Refusal struct{ Host, Why string }

func (r *Refusal) Error() string { return fmt.Sprintf("%s refused: %s", r.Host, r.Why) }

// InputError is a mistake in what a user gave: which field, which value, what would be right.
type InputError struct{ text string }

func (e *InputError) Error() string { return e.text }

// BadInput says that the call was wrong, not the world.
func (e *InputError) BadInput() bool { return true }

func badInput(format string, args ...any) error { return &InputError{fmt.Sprintf(format, args...)} }

// tally counts what outsiders can cause at will, and logs it sparsely: the 1st, 2nd, 4th, 8th and so on, so that nobody
// fills a disk with our log.
type tally struct{ n atomic.Uint64 }

func (t *tally) log(to *slog.Logger, text string, args ...any) {
	if n := t.n.Add(1); n&(n-1) == 0 {
		to.Warn(text, append(args, "so_far", n)...)
	}
}

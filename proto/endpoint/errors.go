package endpoint

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Sentinels for errors.Is. Beside them there are those of package control, in OWAMP and TWAMP: *control.RefusedError, control.ErrMode,
// control.ErrUnwilling and control.ErrForged.
var (
	// ErrRefused: nothing listens at the address.
	ErrRefused = errors.New("connection refused: is a server running there, such as `pathwise respond`?")
	// ErrNoAnswer: nothing at all came back from the address.
	ErrNoAnswer = errors.New("no answer: the host is down, or a firewall drops what is sent to this port")
	// ErrLost: the connection stood, and was closed or reset before what was due came.
	ErrLost = errors.New("the far end went away during the test")
	// ErrSilent: the connection stands, and nothing came on it in time.
	ErrSilent = errors.New("no answer came in time")
)

// explained shows a sentinel's text and wraps the system's error beside it.
type explained struct{ sentinel, cause error }

func (e *explained) Error() string   { return e.sentinel.Error() }
func (e *explained) Unwrap() []error { return []error{e.sentinel, e.cause} }

// ExplainOpening puts a sentinel on why a connection could not be opened.
func ExplainOpening(ctx context.Context, err error) error {
	err = Explain(ctx, err)
	if silent := (*explained)(nil); errors.As(err, &silent) && silent.sentinel == ErrSilent {
		return &explained{ErrNoAnswer, silent.cause}
	}
	return err
}

// Explain puts a sentinel on what the system says of a connection.
func Explain(ctx context.Context, err error) error {
	var known *explained
	var network net.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return &explained{ErrRefused, err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, syscall.ETIMEDOUT):
		return &explained{ErrLost, err}
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return &explained{ErrSilent, err}
	}
	return err
}

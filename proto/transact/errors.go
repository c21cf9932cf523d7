package transact

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Sentinels for errors.Is.
var (
	// ErrBusy: the responder makes as many tests as it may, or does not know the secret.
	ErrBusy = errors.New("the responder is busy with other tests; try again later")
	// ErrRefused: nothing listens at the address.
	ErrRefused = errors.New("connection refused: is `pathwise respond` running there?")
	// ErrNoAnswer: nothing at all came back from the address.
	ErrNoAnswer = errors.New("no answer: the host is down, or a firewall drops what is sent to this port")
	// ErrLost: the connection stood, and was closed, reset or silent before what was due came.
	ErrLost = errors.New("the responder went away during the test")
	// ErrSilent: the connection stands, and nothing came on it in time.
	ErrSilent = errors.New("no answer came in time")
)

// errForeign: what came is not of this protocol.
var errForeign = errors.New("the far end does not speak this protocol: is it a Pathwise responder?")

// TooLongError is a test that would take longer than the responder lets one.
type TooLongError struct{ Asked, Allowed time.Duration }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a test of up to %v was refused: the responder lets one take %v", e.Asked, e.Allowed)
}

// explained shows a sentinel's text and wraps the system's error beside it.
type explained struct{ sentinel, cause error }

func (e *explained) Error() string   { return e.sentinel.Error() }
func (e *explained) Unwrap() []error { return []error{e.sentinel, e.cause} }

// explain puts a sentinel on what the system says of a connection.
func explain(err error) error {
	var known *explained
	var network net.Error
	switch {
	case err == nil, errors.As(err, &known):
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

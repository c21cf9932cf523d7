package ndt7

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// ErrBusy: the server makes as many tests as it may, or does not know the secret. Beside it there are the sentinels of package endpoint.
var ErrBusy = errors.New("the server is busy with other tests; try again later")

var (
	errForeign = errors.New("the far end does not speak ndt7: is it a Pathwise responder, or another server of ndt7?")
	errOpening = errors.New("the server does not answer")
)

// RefusedError is a test that the server does not make.
type RefusedError struct {
	Status int    // of HTTP
	Reason string // the server's, of a line
}

func (e *RefusedError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the server refused the test with status %d", e.Status)
	}
	return fmt.Sprintf("the server refused the test with status %d: %s", e.Status, e.Reason)
}

// mostReason bounds what is told of a server's reason, which may be a page of HTML.
const mostReason = 200

// refusal is what an answer means that is no WebSocket.
func refusal(answer *http.Response) error {
	switch answer.StatusCode {
	case http.StatusServiceUnavailable:
		return ErrBusy
	case http.StatusOK, http.StatusNotFound, http.StatusUpgradeRequired:
		return errForeign
	}
	reason := ""
	if answer.Body != nil {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, mostReason)) // of what came of it
		if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
			reason, _, _ = strings.Cut(strings.ToValidUTF8(strings.TrimSpace(string(text)), ""), "\n")
		}
	}
	return &RefusedError{Status: answer.StatusCode, Reason: reason}
}

// opening says why there is no test.
func opening(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errOpening) { // not who asked for the test, but its time is over
		return endpoint.ExplainOpening(context.Background(), &net.OpError{Op: "open", Err: context.DeadlineExceeded})
	}
	return endpoint.ExplainOpening(ctx, err)
}

// lost is an end of a connection that endpoint.Explain knows, of one that was closed beneath the WebSocket.
func lost(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("%w: %w", io.EOF, err)
	}
	return err
}

// hidden is an error with another text.
type hidden struct {
	error
	text string
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.error }

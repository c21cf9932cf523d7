package web

import (
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
)

// fault is an error as an answer: a problem document (RFC 9457) under the status that the error stands for.
func fault(err error) huma.StatusError { return huma.NewError(statusOf(err), err.Error()) }

func statusOf(err error) int {
	var bad interface{ BadInput() bool }
	var refusal *fleet.Refusal
	var denial *control.Denial
	switch {
	case errors.As(err, &bad) && bad.BadInput():
		return http.StatusUnprocessableEntity
	case errors.Is(err, errNoToken):
		return http.StatusUnauthorized
	case errors.As(err, &denial) && denial.Later:
		return http.StatusTooManyRequests
	case errors.As(err, &denial), errors.As(err, &refusal), errors.Is(err, errInsecure), errors.Is(err, errNotYours):
		return http.StatusForbidden
	case errors.Is(err, archive.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, fleet.ErrAway), errors.Is(err, control.ErrNotFree), errors.Is(err, control.ErrNotReady):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// badField is a part of a request that cannot be used, as far as its own type does not say so.
type badField struct{ name, value, want string }

func (e *badField) Error() string  { return e.name + ": \"" + e.value + "\": want " + e.want }
func (e *badField) BadInput() bool { return true }

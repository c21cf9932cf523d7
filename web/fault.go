package web

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/calc"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/web/edit"
	"github.com/pathwise-net/pathwise/web/labs"
)

// fault is an error as an answer: a problem document (RFC 9457) under the status that the error stands for.
func fault(err error) error {
	problem := huma.NewError(statusOf(err), err.Error())
	if after := waitOf(err); after > 0 {
		return huma.ErrorWithHeaders(problem, http.Header{"Retry-After": {strconv.Itoa(int(after.Seconds()))}})
	}
	return problem
}

// waitOf is how long to wait before what failed is tried again, in whole seconds; 0: it is not known.
func waitOf(err error) time.Duration {
	var later *account.Later
	var full *limitError
	switch {
	case errors.As(err, &later):
		return later.After
	case errors.As(err, &full):
		return full.after
	}
	return 0
}

// refuse answers with a fault where no operation does, or one that writes its answer itself.
func refuse(w http.ResponseWriter, err error) {
	var more huma.HeadersError
	if errors.As(err, &more) {
		maps.Copy(w.Header(), more.GetHeaders())
	}
	var problem *huma.ErrorModel
	if !errors.As(err, &problem) {
		problem = &huma.ErrorModel{Status: http.StatusInternalServerError, Detail: err.Error()}
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(problem.Status)
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	_ = to.Encode(problem) // to a client that is gone
}

// veiled is a fault as its caller sees it. What failed here may name files and hosts of the controller's machine: it goes to the
// log, and to administrators.
func (s *Server) veiled(ctx context.Context, of string, err error) error {
	var problem *huma.ErrorModel
	if !errors.As(err, &problem) || problem.Status != http.StatusInternalServerError {
		return err
	}
	if s.Log != nil && ctx.Err() == nil { // a client that went away ended the call: nothing failed
		s.Log.Error("call failed", "of", of, "error", problem.Detail)
	}
	if visitorOf(ctx).may(account.Admin) {
		return err
	}
	return huma.NewError(problem.Status, "something failed here; the controller's log says what")
}

func statusOf(err error) int {
	var refusal *fleet.Refusal
	var denial *control.Denial
	var later *account.Later
	var formula *calc.UnknownError
	var unwritable *edit.ReadOnly
	var outward *edit.Outward
	var full *limitError
	switch {
	case errors.As(err, &full):
		return full.status
	case errors.Is(err, account.ErrUnknown), errors.Is(err, archive.ErrUnknown), errors.As(err, &formula): // some of these are bad input, too
		return http.StatusNotFound
	case errors.Is(err, edit.ErrUnknown), errors.Is(err, errNoConfig), errors.Is(err, errNoJoining):
		return http.StatusNotFound
	case errors.As(err, &unwritable), errors.As(err, &outward):
		return http.StatusForbidden
	case errors.Is(err, edit.ErrStale):
		return http.StatusConflict
	case errors.Is(err, lab.ErrNoLab), errors.Is(err, lab.ErrGone), errors.Is(err, labs.ErrOff):
		return http.StatusNotFound
	case errors.Is(err, lab.ErrStale), errors.Is(err, labs.ErrBusy), errors.Is(err, labs.ErrNothing):
		return http.StatusConflict
	case errors.Is(err, account.ErrTaken), errors.Is(err, account.ErrLastAdmin), errors.Is(err, fleet.ErrAway),
		errors.Is(err, control.ErrNotFree):
		return http.StatusConflict
	case input.Bad(err):
		return http.StatusUnprocessableEntity
	case errors.Is(err, errNoProof), errors.Is(err, account.ErrToken), errors.Is(err, account.ErrSession),
		errors.Is(err, account.ErrCredentials):
		return http.StatusUnauthorized
	case errors.Is(err, account.ErrInvitation):
		return http.StatusGone
	case errors.As(err, &later):
		return http.StatusTooManyRequests
	case errors.As(err, &denial) && denial.Later:
		return http.StatusTooManyRequests
	case errors.As(err, &denial), errors.As(err, &refusal), errors.Is(err, errInsecure), errors.Is(err, errNotYours),
		errors.Is(err, errEnded), errors.Is(err, errCrossOrigin), errors.Is(err, account.ErrDenied):
		return http.StatusForbidden
	case errors.Is(err, account.ErrBusy), errors.Is(err, control.ErrNotReady), errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// badField is a part of a request that cannot be used, as far as its own type does not say so.
func badField(name, value, want string) error {
	return input.Errorf(`%s: "%s": want %s`, name, value, want)
}

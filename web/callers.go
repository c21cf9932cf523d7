package web

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"github.com/pathwise-net/pathwise/control"
)

var (
	errNoToken = errors.New("want a token in the header Authorization: Bearer TOKEN; " +
		"`pathwise mesh token NAME` makes one on the controller's machine")
	errInsecure = errors.New("want HTTPS before a token is sent: set controller.tls in the mesh file, or have the controller " +
		"listen on 127.0.0.1; make a token anew that was sent in the open")
)

// startCallersRun runs a test for a caller with a token.
func (s *Server) startCallersRun(w http.ResponseWriter, r *http.Request, secure bool) {
	caller, err := s.caller(r, secure)
	if err != nil {
		if s.Log != nil {
			s.Log.Warn("test denied", "from", r.RemoteAddr, "why", err)
		}
		if errors.Is(err, errNoToken) {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		s.fail(w, err)
		return
	}
	s.run(w, r, caller)
}

// caller says who calls.
func (s *Server) caller(r *http.Request, secure bool) (*control.Caller, error) {
	if !secure {
		return nil, errInsecure
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, errNoToken
	}
	name, err := s.Control.TokenName(strings.TrimSpace(token))
	if errors.Is(err, control.ErrUnknownToken) {
		return nil, errNoToken
	} else if err != nil {
		return nil, err
	}
	caller := &control.Caller{Token: name}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil { // else it has no network, and is of none
		caller.Address = at.Addr().Unmap().WithZone("")
	}
	return caller, nil
}

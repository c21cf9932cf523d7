package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/control"
)

// Door is a way in, and what is believed of those who come through it.
type Door struct {
	// Owner says that they own the controller, as those do who can open the socket in its folder: they may do everything, and
	// are held to no limit.
	Owner bool
	// Secure says that nobody can listen in on the way: else no token is taken.
	Secure bool
	// Public says that who has no token may read.
	Public bool
}

// scope is what an operation asks of its caller.
type scope string

const (
	scopeNone  scope = ""      // nothing: anybody may ask
	scopeRead  scope = "read"  // see what was measured
	scopeRun   scope = "run"   // start tests, within the limits that the mesh file says
	scopeOwner scope = "owner" // what touches the controller's machine
)

// scopeKey is where an operation keeps its scope.
const scopeKey = "scope"

// identity is who calls.
type identity struct {
	name    string // of the token; "" for the owner and the public
	owner   bool
	scopes  []scope
	address netip.Addr // not valid: on this machine
	refused error      // why what was shown as proof counts for nothing
}

func (i *identity) may(needs scope) bool {
	return needs == scopeNone || i.owner || slices.Contains(i.scopes, needs)
}

// caller is the identity as control limits it; nil: the owner.
func (i *identity) caller() *control.Caller {
	if i.owner {
		return nil
	}
	return &control.Caller{Token: i.name, Address: i.address}
}

type identityKey struct{}

func identityOf(ctx context.Context) *identity {
	if i, ok := ctx.Value(identityKey{}).(*identity); ok {
		return i
	}
	return &identity{}
}

var (
	errNoToken = errors.New("want a token in the header Authorization: Bearer TOKEN; " +
		"`pathwise mesh token NAME` makes one on the controller's machine")
	errInsecure = errors.New("want HTTPS before a token is sent: set controller.tls in the mesh file, or have the controller " +
		"listen on 127.0.0.1; make a token anew that was sent in the open")
	errNotYours = errors.New("not with this token")
)

// known finds out who calls.
func (s *Server) known(d Door, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), identityKey{}, s.identify(d, r))
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (s *Server) identify(d Door, r *http.Request) *identity {
	if d.Owner {
		return &identity{owner: true}
	}
	i := &identity{}
	if d.Public {
		i.scopes = []scope{scopeRead}
	}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil { // else it has no network, and is of none
		i.address = at.Addr().Unmap().WithZone("")
	}
	switch scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); {
	case !d.Secure:
		i.refused = errInsecure
	case !strings.EqualFold(scheme, "Bearer"):
		i.refused = errNoToken
	default:
		name, err := s.Control.TokenName(strings.TrimSpace(token))
		if errors.Is(err, control.ErrUnknownToken) {
			err = errNoToken
		}
		if i.name, i.refused = name, err; err == nil {
			i.scopes = []scope{scopeRead, scopeRun}
		}
	}
	return i
}

// denial is why a caller may not ask for something that needs a scope; nil: they may.
func (s *Server) denial(i *identity, needs scope, asked string) error {
	if i.may(needs) {
		return nil
	}
	why := i.refused
	if why == nil {
		why = errNotYours
	}
	if s.Log != nil {
		s.Log.Warn("call denied", "of", asked, "caller", i.name, "from", i.address, "why", why)
	}
	return why
}

// requireScope keeps operations from those who may not ask for them.
func (s *Server) requireScope(a huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		o := ctx.Operation()
		needs, _ := o.Metadata[scopeKey].(scope)
		err := s.denial(identityOf(ctx.Context()), needs, o.OperationID)
		if err == nil {
			next(ctx)
			return
		}
		if errors.Is(err, errNoToken) {
			ctx.SetHeader("WWW-Authenticate", "Bearer")
		}
		_ = huma.WriteErr(a, ctx, statusOf(err), err.Error()) // to a client that is gone
	}
}

// plainly keeps a handler that is no operation from those who may not ask for it.
func (s *Server) plainly(needs scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.denial(identityOf(r.Context()), needs, r.URL.Path); err != nil {
			http.Error(w, err.Error(), statusOf(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/control"
)

// Listener says what is believed of those who call on one of the controller's sockets: the owner's, or an address.
type Listener struct {
	// Owner says that they own the controller, as those do who can open the socket in its folder: they may do everything, and
	// are held to no limit.
	Owner bool
	// Secure says that nobody can listen in on the way: else no password, session or token is taken but of who calls from this
	// very machine.
	Secure bool
	// Public says whether who has shown nothing may read; nil: no.
	Public func() bool
	// Proxies are the networks of reverse proxies that are believed about who calls them, and how; see forwarded.
	Proxies []netip.Prefix
}

// What an operation may ask of its caller, beside the scopes of package account.
const (
	scopeNone  account.Scope = ""      // nothing: anybody may ask
	scopeOwner account.Scope = "owner" // to own the controller: what touches its machine
)

// scopeKey is where an operation keeps its scope.
const scopeKey = "scope"

// visitor is who calls.
type visitor struct {
	account.Identity
	address netip.Addr // not valid: on this machine
	session string     // its secret, of who signed in
	tls     bool       // the connection is HTTPS, as far as is known
	public  bool       // anybody may read
	refused error      // why what was shown as proof counts for nothing

	asks  account.Scope   // of what
	again func() *visitor // who they are by now
}

// reauthorized says whether they may still ask for what they asked.
func (v *visitor) reauthorized() bool { return v.again().may(v.asks) }

func (v *visitor) may(needs account.Scope) bool {
	return needs == scopeNone || v.Kind == account.KindOwner || v.May(needs)
}

// caller is the visitor as control limits it; nil: the owner.
func (v *visitor) caller() *control.Caller {
	switch v.Kind {
	case account.KindOwner:
		return nil
	case account.KindAccount:
		return &control.Caller{Account: v.Name, Address: v.address}
	}
	return &control.Caller{Token: v.Name, Address: v.address}
}

// actor is the visitor as package account knows who changes something.
func (v *visitor) actor() account.Actor { return account.Actor{Identity: v.Identity, From: v.address} }

type visitorKey struct{}

func visitorOf(ctx context.Context) *visitor {
	if v, ok := ctx.Value(visitorKey{}).(*visitor); ok {
		return v
	}
	return &visitor{}
}

var (
	errNoProof = errors.New("want a session, or a token in the header Authorization: Bearer TOKEN; " +
		"`pathwise mesh token NAME` makes one on the controller's machine")
	errInsecure = errors.New("want HTTPS before a password or token is sent: set controller.tls in the mesh file, come through a tunnel " +
		"such as `ssh -L 8080:CONTROLLER:PORT CONTROLLER`, or call the proxy before it by HTTPS; make a token anew that was sent in the open")
	errNotYours = errors.New("not with these rights")
	errEnded    = errors.New("the session or token has ended, or has not these rights any more")
)

// known finds out who calls.
func (s *Server) known(l Listener, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := s.identify(l, r)
		v.again = func() *visitor { return s.identify(l, r) }
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, v)))
	})
}

// sessionCookie is the name of what a browser shows as proof.
const sessionCookie = "pathwise_session"

func (s *Server) identify(l Listener, r *http.Request) *visitor {
	if l.Owner {
		return &visitor{Identity: account.Owner()}
	}
	v := &visitor{refused: errNoProof, tls: r.TLS != nil, public: l.Public != nil && l.Public()}
	secure := l.Secure || ownMachine(r)
	if https, said := schemeOf(r.Context()); said {
		v.tls, secure = https, https
	}
	if v.public {
		v.Identity = account.Public()
	}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil { // else it has no network, and is of none
		v.address = at.Addr().Unmap().WithZone("")
	}
	if !secure {
		v.refused = errInsecure
		return v
	}
	who, err := account.Identity{}, errNoProof
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		who, err = s.Accounts.Token(strings.TrimSpace(token))
	} else if cookie, none := r.Cookie(sessionCookie); none == nil {
		v.session = cookie.Value
		who, err = s.Accounts.Session(cookie.Value)
	}
	if v.refused = err; err == nil {
		v.Identity = who
	}
	return v
}

// ownMachine says whether a call comes from this machine, as it does through an SSH tunnel: nobody can listen in on the way. A
// proxy that says so may have been called from elsewhere.
func ownMachine(r *http.Request) bool {
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "Via"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	there, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	here, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return there.Addr().Unmap().IsLoopback() || here != nil && there.Addr().Unmap() == here.AddrPort().Addr().Unmap()
}

// denial is why a visitor may not ask for something that needs a scope; nil: they may.
func (s *Server) denial(v *visitor, needs account.Scope, asked string) error {
	if v.may(needs) {
		return nil
	}
	why := v.refused
	if why == nil {
		why = errNotYours
	}
	if s.Log != nil {
		s.Log.Warn("call denied", "of", asked, "caller", v.Name, "from", v.address, "why", why)
	}
	return why
}

// requireScope keeps operations from those who may not ask for them.
func (s *Server) requireScope(ctx huma.Context, next func(huma.Context)) {
	o, v := ctx.Operation(), visitorOf(ctx.Context())
	v.asks, _ = o.Metadata[scopeKey].(account.Scope)
	if err := s.denial(v, v.asks, o.OperationID); err != nil {
		_, w := humago.Unwrap(ctx)
		deny(w, err)
		return
	}
	next(ctx)
}

// plainly keeps a handler that is no operation from those who may not ask for it.
func (s *Server) plainly(needs account.Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.denial(visitorOf(r.Context()), needs, r.URL.Path); err != nil {
			deny(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// deny answers with a denial, and says what proof would do.
func deny(w http.ResponseWriter, err error) {
	if statusOf(err) == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	refuse(w, fault(err))
}

package web

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwarded takes from the reverse proxies of a listener what they say of their callers: the address that calls are counted by and
// written down with, and whether it is HTTPS up to there. Each proxy appends the address that called it to X-Forwarded-For,
// so the caller is the last one that is no proxy of ours; what stands before it, anybody may have written.
func (l Listener) forwarded(next http.Handler) http.Handler {
	if len(l.Proxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !l.isProxy(at.Addr()) {
			next.ServeHTTP(w, r)
			return
		}
		told := *r
		told.RemoteAddr = netip.AddrPortFrom(l.caller(at.Addr(), r.Header.Values("X-Forwarded-For")), at.Port()).String()
		told.TLS = nil
		ctx := withScheme(r.Context(), strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https"))
		next.ServeHTTP(w, told.WithContext(ctx))
	})
}

type schemeKey struct{}

// withScheme notes whether a proxy was called by HTTPS.
func withScheme(ctx context.Context, https bool) context.Context {
	return context.WithValue(ctx, schemeKey{}, https)
}

// schemeOf tells whether it was, and whether a proxy said so or the contrary.
func schemeOf(ctx context.Context) (https, said bool) {
	https, said = ctx.Value(schemeKey{}).(bool)
	return https, said
}

func (l Listener) isProxy(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(l.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// caller is who called the outermost of our proxies; a list that ends within them, or that cannot be read, leaves the last that
// can be believed.
func (l Listener) caller(nearest netip.Addr, headers []string) netip.Addr {
	list := strings.Split(strings.Join(headers, ","), ",")
	for _, text := range slices.Backward(list) {
		a, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return nearest
		}
		if nearest = a; !l.isProxy(a) {
			return nearest
		}
	}
	return nearest
}

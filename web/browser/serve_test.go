package browser

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web"
)

// password is everybody's.
const password = "four plain words here"

// serve runs a controller for people with their roles, and shows its pages as handler has them. end closes its archive, too.
func serve(t *testing.T, c control.Config, people map[string]account.Role, handler func(*web.Server) http.Handler) (s *web.Server, url string, end func() error) {
	t.Helper()
	c.Log = slog.New(slog.DiscardHandler)
	controller, err := control.New(c)
	must(t, err)
	accounts, err := account.Open(c.Data, account.Options{})
	must(t, err)
	for name, role := range people { // hashing a password takes a moment
		invitation, err := accounts.Add(account.Actor{Identity: account.Owner()}, name, role)
		must(t, err)
		_, err = accounts.Accept(t.Context(), invitation, password, netip.Addr{})
		must(t, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()
	s = &web.Server{Control: controller, Archive: c.Archive, Accounts: accounts, Version: "v1", Known: knownRouters}
	server := httptest.NewServer(handler(s))
	return s, server.URL, func() error {
		cancel()
		server.CloseClientConnections()
		server.Close()
		return errors.Join(<-ended, accounts.Close(), c.Archive.Close())
	}
}

// public shows pages to everybody.
func public(s *web.Server) http.Handler {
	return s.Handler(web.Listener{Secure: true, Public: func() bool { return true }})
}

// knownRouters is what the mesh file's sources know of some routers.
func knownRouters(_ context.Context, addresses []netip.Addr) (known []measure.AddressInfo) {
	for _, a := range addresses {
		switch a.String() {
		case "10.1.0.2", "10.7.0.2", "10.8.7.2":
			known = append(known, measure.AddressInfo{Address: a.String(), ASN: 64500, Owner: "Example University", Country: "CH"})
		}
	}
	return known
}

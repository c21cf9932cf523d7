package iperf3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestSecretAdmits has a server that admits one cookie from one address, and tells all others no more than that it is
// busy.
func TestSecretAdmits(t *testing.T) {
	cookie, err := NewCookie(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := string(cookie[:CookieSize-1])
	for _, test := range []struct {
		name   string
		peer   string
		config Config
		want   error
	}{
		{"the secret", "127.0.0.1", Config{Bytes: 1000, Cookie: secret}, nil},
		{"the secret, four streams", "127.0.0.1", Config{Bytes: 1000, Parallel: 4, Cookie: secret}, nil},
		{"the secret, UDP", "127.0.0.1", Config{Proto: UDP, Bytes: 1000, Cookie: secret}, nil},
		{"no secret", "127.0.0.1", Config{Bytes: 1000}, ErrBusy},
		{"another", "127.0.0.1", Config{Bytes: 1000, Cookie: strings.Repeat("a", 36)}, ErrBusy},
		{"the secret from elsewhere", "127.0.0.2", Config{Bytes: 1000, Cookie: secret}, ErrBusy},
	} {
		t.Run(test.name, func(t *testing.T) {
			peer := netip.MustParseAddr(test.peer)
			admit := func(c Cookie, from netip.Addr) bool { return c.Equal(cookie) && from == peer }
			tested := make(chan Tested, 1)
			var log bytes.Buffer
			s := &Server{Policy: Policy{Admit: admit}, OnTest: func(t Tested) { tested <- t },
				Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
			ctx, cancel := context.WithCancel(t.Context())
			ln, err := Listen(ctx, "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx, ln) }()
			report, err := (&Client{Addr: ln.Addr().String(), Config: test.config}).Run(ctx)
			if !errors.Is(err, test.want) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			if test.want == nil {
				select {
				case got := <-tested:
					if got.Err != nil || got.ReceivedBytes < 1000 || got.Client.Addr() != peer {
						t.Errorf("the server tells of %+v, want 1000 bytes from %v", got, peer)
					}
				case <-time.After(10 * time.Second):
					t.Error("the server did not tell of the test")
				}
			}
			if report.Config.Cookie != "" {
				t.Error("the secret is in the report")
			}
			cancel()
			if err := <-served; err != nil {
				t.Error(err)
			}
			if len(tested) > 0 {
				t.Errorf("a test was let in: %+v", <-tested)
			}
			if strings.Contains(log.String(), secret) || err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the secret is in %q or %v", log.String(), err)
			}
		})
	}
}

package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

const (
	password  = "correct horse battery"
	otherWord = "staple, battery, horse"
)

// invited makes an account and returns its invitation.
func (b *bench) invited(name, role string, headers ...string) string {
	b.t.Helper()
	_, text, _ := b.ask(http.MethodPost, "/api/v1/accounts", `{"name": "`+name+`", "role": "`+role+`"}`, headers...)
	var doc invitationDoc
	if err := json.Unmarshal([]byte(text), &doc); err != nil || doc.Invitation == "" {
		b.t.Fatalf("invitation of %s: %s", name, text)
	}
	return doc.Invitation
}

// signIn returns the header by which a browser shows its session.
func (b *bench) signIn(name, password string) []string {
	b.t.Helper()
	status, text, header := b.ask(http.MethodPost, "/api/v1/session", `{"name": "`+name+`", "password": "`+password+`"}`)
	cookie := header.Get("Set-Cookie")
	if status != http.StatusNoContent || !strings.Contains(cookie, "HttpOnly; SameSite=Strict") || strings.Contains(cookie, "Path=") {
		b.t.Fatalf("%s signs in: %d %s, cookie %q", name, status, text, cookie)
	}
	value, _, _ := strings.Cut(cookie, ";")
	return []string{"Cookie", value}
}

// The owner invites an administrator, who invites others; each sets a password once, signs in, does what their role allows, and
// signs out.
func TestSigning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run()
	b.serve(b.Handler(owner))
	invitation := b.invited("root", "admin")
	b.serve(b.Handler(Listener{Secure: true}))
	b.expect(http.MethodGet, "/api/v1/me", "", 200, `"scopes":[]`)
	take := func(invitation, password string, want int, has string) {
		t.Helper()
		b.expect(http.MethodPost, "/api/v1/invitation", `{"token": "`+invitation+`", "password": "`+password+`"}`, want, has)
	}
	take(invitation, "short", 422, "password")
	take("wrong", password, 410, "invitation")
	b.expect(http.MethodPost, "/api/v1/invitation/name", `{"token": "wrong"}`, 410, "invitation")
	b.expect(http.MethodPost, "/api/v1/invitation/name", `{"token": "`+invitation+`"}`, 200, `"name":"root"`)
	_, text, header := b.ask(http.MethodPost, "/api/v1/invitation", `{"token": "`+invitation+`", "password": "`+password+`"}`)
	cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	if !strings.Contains(text, `"name":"root"`) || !strings.HasSuffix(header.Get("Set-Cookie"), "HttpOnly; SameSite=Strict") {
		t.Errorf("root's password is set: %s, cookie %q", text, header.Get("Set-Cookie"))
	}
	b.expect(http.MethodGet, "/api/v1/me", "", 200, `"name":"root"`, "Cookie", cookie) // who set it is signed in
	take(invitation, password, 410, "invitation")
	b.expect(http.MethodPost, "/api/v1/invitation/name", `{"token": "`+invitation+`"}`, 410, "invitation")
	root := b.signIn("root", password)
	b.expect(http.MethodGet, "/api/v1/me", "", 200, `"role":"admin"`, root...)
	take(b.invited("vic", "viewer", root...), otherWord, 200, "vic")
	vic := b.signIn("vic", otherWord)
	for _, c := range []struct {
		method, path, body string
		want               int
		has                string
	}{
		{http.MethodGet, "/api/v1/pairs", "", 200, "pairs"},
		{http.MethodGet, "/api/v1/accounts", "", 403, "rights"},
		{http.MethodPost, "/api/v1/runs", rtt, 403, "rights"},
		{http.MethodPost, "/api/v1/tokens", `{"name": "mine", "scopes": ["run"]}`, 403, ""},
		{http.MethodPost, "/api/v1/tokens", `{"name": "mine", "scopes": ["read"]}`, 200, `"token":`},
		{http.MethodGet, "/api/v1/tokens", "", 200, `"name":"mine"`},
		{http.MethodPost, "/api/v1/password", `{"old": "wrong", "password": "another long one"}`, 401, "wrong name or password"},
	} {
		b.expect(c.method, c.path, c.body, c.want, c.has, vic...)
	}
	b.expect(http.MethodPatch, "/api/v1/accounts/vic", `{"role": "operator"}`, 204, "", root...)
	b.expect(http.MethodPost, "/api/v1/runs", rtt, 403, "vic from 127.0.0.1", vic...) // in force at once; but of no class
	b.expect(http.MethodPatch, "/api/v1/accounts/root", `{"role": "viewer"}`, 409, "last administrator", root...)
	b.expect(http.MethodPatch, "/api/v1/accounts/nobody", `{"role": "viewer", "disabled": true}`, 404, "none of that name", root...)
	b.expect(http.MethodPatch, "/api/v1/accounts/vic", `{}`, 422, "want another role", root...)
	b.expect(http.MethodPatch, "/api/v1/accounts/vic", `{"disabled": true}`, 204, "", root...)
	b.expect(http.MethodGet, "/api/v1/pairs", "", 401, "sign in again", vic...)
	b.expect(http.MethodDelete, "/api/v1/accounts/nobody", "", 404, "none of that name", root...)
	b.expect(http.MethodGet, "/api/v1/audit?limit=50", "", 200, `"on":"vic"`, root...)
	b.expect(http.MethodGet, "/api/v1/audit?limit=50", "", 200, `"on":"rtt from a to b"`, root...)
	b.expect(http.MethodDelete, "/api/v1/session", "", 204, "", root...)
	b.expect(http.MethodGet, "/api/v1/accounts", "", 401, "sign in again", root...)
	for _, secret := range []string{password, otherWord, invitation, root[1], vic[1]} {
		if strings.Contains(b.said.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
}

// Who guesses is told to wait, and where others can listen in no password is taken.
func TestGuessing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serve(b.Handler(Listener{Secure: true}))
	const guess = `{"name": "root", "password": "a guess of twelve"}`
	status, header := 0, http.Header{}
	for range 20 {
		if status, _, header = b.ask(http.MethodPost, "/api/v1/session", guess); status != http.StatusUnauthorized {
			break
		}
	}
	if status != http.StatusTooManyRequests || header.Get("Retry-After") == "" {
		t.Errorf("after twenty guesses: %d, Retry-After %q", status, header.Get("Retry-After"))
	}
}

// fromFar lets a handler take all calls for ones of another machine.
func fromFar(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = "192.0.2.1:5"
		h.ServeHTTP(w, r)
	})
}

// Where others can listen in, nothing that proves who calls is taken, and /me says so before a password is typed. Who calls from
// the controller's machine, as through a tunnel, is let in there.
func TestPlainHTTP(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(b.Handler(owner))
	b.expect(http.MethodPost, "/api/v1/invitation", `{"token": "`+b.invited("root", "admin")+`", "password": "`+password+`"}`, 200, "root")
	b.serve(b.Handler(Listener{}))
	session, token := b.signIn("root", password), []string{"Authorization", "Bearer " + b.token("alice")}
	b.expect(http.MethodGet, "/api/v1/me", "", 200, `"insecure":false`)
	b.expect(http.MethodGet, "/api/v1/pairs", "", 200, "pairs", session...)
	b.expect(http.MethodGet, "/api/v1/pairs", "", 200, "pairs", token...)
	b.serve(fromFar(b.Handler(Listener{})))
	b.expect(http.MethodGet, "/api/v1/me", "", 200, `"insecure":true`)
	const want = "want HTTPS before a password or token is sent: set controller.tls in the mesh file, come through a tunnel"
	b.expect(http.MethodPost, "/api/v1/session", `{"name": "root", "password": "`+password+`"}`, 403, want)
	b.expect(http.MethodPost, "/api/v1/invitation", `{"token": "x", "password": "`+password+`"}`, 403, want)
	b.expect(http.MethodPost, "/api/v1/password", `{"old": "`+password+`", "password": "`+otherWord+`"}`, 403, want, session...)
	b.expect(http.MethodGet, "/api/v1/pairs", "", 403, want, session...)
	b.expect(http.MethodGet, "/api/v1/pairs", "", 403, want, token...)
	b.expect(http.MethodGet, "/metrics", "", 403, want, token...)
}

// Which calls come from this machine: those of loopback, and those from the very address that was called, unless a proxy passed
// them on.
func TestOwnMachine(t *testing.T) {
	for _, c := range []struct {
		remote, local, header string
		want                  bool
	}{
		{"127.0.0.1:5", "127.0.0.1:80", "", true}, {"[::1]:5", "[::1]:80", "", true}, {"[::ffff:127.0.0.9]:5", "", "", true},
		{"10.0.0.1:5", "10.0.0.1:80", "", true}, {"[2001:db8::1]:5", "[2001:db8::1]:80", "", true},
		{"10.0.0.2:5", "10.0.0.1:80", "", false}, {"10.0.0.2:5", "", "", false}, {"@", "", "", false}, {"", "", "", false},
		{"127.0.0.1:5", "127.0.0.1:80", "X-Forwarded-For", false}, {"127.0.0.1:5", "127.0.0.1:80", "X-Forwarded-Proto", false},
		{"127.0.0.1:5", "127.0.0.1:80", "Forwarded", false}, {"127.0.0.1:5", "127.0.0.1:80", "Via", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.remote
		if c.local != "" {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.local))))
		}
		if c.header != "" {
			r.Header.Set(c.header, "x")
		}
		if got := ownMachine(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

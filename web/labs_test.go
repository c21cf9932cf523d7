package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/web/labs"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked() // the labs of these tests are this test binary again
	os.Exit(m.Run())
}

// tester stands for this program on a host: it says what a test says, and of a transfer it does not end by itself.
const tester = `#!/bin/sh
case "$1 $3" in
  "lab ping") echo '{"echo":{"seq":1,"sent_seconds":0,"rtt_seconds":0.021}}'; echo '{"result":{"id":"x"}}' ;;
  "lab throughput") echo '{"interval":{"stream":0}}'; exec sleep 1000 ;;
  *) echo "answering on port $3"; exec sleep 1000 ;;
esac
`

// withLab stands a lab up and has the server show the machine's.
func (b *bench) withLab() (name string) {
	b.t.Helper()
	spec, err := lab.ParseSpec("lab.yaml", []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 10mbit, delay: 5ms}]"))
	if err != nil {
		b.t.Fatal(err)
	}
	l, err := lab.Start(context.Background(), spec, lab.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.t.Error(err)
		}
	})
	program := filepath.Join(b.folder, "tester")
	if err := os.WriteFile(program, []byte(tester), 0o700); err != nil {
		b.t.Fatal(err)
	}
	b.Labs = &labs.Labs{Program: program}
	return l.Name
}

func (b *bench) bearer(name string, scopes ...account.Scope) []string {
	b.t.Helper()
	token, err := b.Accounts.NewToken(account.Actor{Identity: account.Owner()}, account.TokenSpec{Name: name, Scopes: scopes})
	if err != nil {
		b.t.Fatal(err)
	}
	return []string{"Authorization", "Bearer " + token}
}

// Who may read sees labs; who administers changes them, and that is written down before it is done.
func TestLabs(t *testing.T) {
	b := newBench(t)
	name := b.withLab()
	b.serve(b.Handler(Listener{Secure: true}))
	vic, boss := b.bearer("vic", account.Read, account.Run), b.bearer("boss", account.Read, account.Admin)
	one := "/api/v1/labs/" + name
	changes := map[string]string{one + "/links/0": `{"settings": ["delay=20ms"]}`, one + "/undo": `{}`, one + "/tests": `{"kind": "ping", "from": "bob", "to": "carol"}`}
	for path, body := range changes {
		b.expect(http.MethodPost, path, body, 401, "")
		b.expect(http.MethodPost, path, body, 403, "", vic...)
	}
	b.expect(http.MethodGet, one, "", 401, "")
	b.expect(http.MethodGet, "/api/v1/labs", "", 200, `"enabled":true`, vic...)
	b.expect(http.MethodGet, "/api/v1/labs", "", 200, `"`+name+`"`, vic...)
	b.expect(http.MethodGet, "/api/v1/labs", "", 200, `"name":"burst-loss"`, vic...)
	b.expect(http.MethodGet, one, "", 200, `"settings":{"delay":"5ms","rate":"10mbit"}`, vic...)

	b.expect(http.MethodPost, one+"/links/0", `{"settings": ["delay=20ms", "loss=1%"], "direction": "forward"}`, 200, `"settings":{"delay":"20ms","loss":"1%","rate":"10mbit"}`, boss...)
	b.expect(http.MethodPost, one+"/links/0", `{"fault": "bufferbloat"}`, 200, `"by":"token boss"`, boss...)
	b.expect(http.MethodGet, one, "", 200, `"by":""`, vic...)
	b.expect(http.MethodPost, one+"/undo", `{"link": 0, "all": true}`, 200, `"changes":[]`, boss...)
	b.expect(http.MethodGet, one, "", 200, `"settings":{"delay":"5ms","rate":"10mbit"}`, vic...)
	b.expect(http.MethodPost, one+"/undo", `{}`, 409, "nothing to undo", boss...)
	b.expect(http.MethodPost, one+"/tests", changes[one+"/tests"], 200, `"rtt_seconds":0.021`, boss...)

	page, err := b.Accounts.Audit("", 100)
	if err != nil {
		t.Fatal(err)
	}
	noted, first := map[string]int{}, map[string]string{}
	for _, e := range page.Entries {
		if e.Who == "boss" && strings.Contains(e.On, name) {
			noted[e.What]++
			first[e.What] = e.On
		}
	}
	if got := fmt.Sprint(noted); got != "map[change-link:2 test-lab:1 undo-lab:2]" {
		t.Errorf("the audit log has %s of boss", got)
	}
	if want := fmt.Sprintf("link 0 of lab %q, all", name); first["undo-lab"] != want {
		t.Errorf("the audit log has %q, want %q", first["undo-lab"], want)
	}
}

// What cannot be is refused in a line that says what would be right; names lead nowhere but to what there is.
func TestLabsRefuse(t *testing.T) {
	b := newBench(t)
	name := b.withLab()
	b.serve(b.Handler(owner))
	one := "/api/v1/labs/" + name
	for _, c := range []struct {
		path, body string
		want       int
		has        string
	}{
		{one + "/links/0", `{"settings": ["loss=2"]}`, 422, `loss: \"2\": want a ratio`},
		{one + "/links/0", `{"settings": ["trace=/etc/passwd"]}`, 422, `names a file`},
		{one + "/links/0", `{"settings": ["loss=1%"], "direction": "up"}`, 422, `direction`},
		{one + "/links/0", `{"settings": ["loss=1%"], "for_seconds": 1e9}`, 422, `for_seconds`},
		{one + "/links/0", `{"fault": "<script>"}`, 422, `want one of random-loss`},
		{one + "/links/0", `{}`, 422, `settings: none`},
		{one + "/links/7", `{"settings": ["loss=1%"]}`, 422, `has links 0 to 0`},
		{one + "/links/x", `{"settings": ["loss=1%"]}`, 422, `path.link`},
		{one + "/links/0", `{"settings": "` + strings.Repeat("x", 70_000) + `"}`, 413, ``},
		{one + "/tests", `{"kind": "ping", "from": "bob", "to": "bob"}`, 422, `want another`},
		{one + "/tests", `{"kind": "ping", "from": "bob; reboot", "to": "carol"}`, 422, `want a host of lab`},
		{one + "/tests", `{"kind": "exec", "from": "bob", "to": "carol"}`, 422, `kind`},
		{"/api/v1/labs/nobody/links/0", `{"settings": ["loss=1%"]}`, 404, `no such lab`},
		{"/api/v1/labs/..%2F" + name + "/undo", `{}`, 404, `no such lab`},
		{"/api/v1/labs/%00/tests", `{"kind": "ping", "from": "bob", "to": "carol"}`, 404, `no such lab`},
	} {
		b.expect(http.MethodPost, c.path, c.body, c.want, c.has)
	}
	b.expect(http.MethodGet, "/api/v1/labs/nobody", "", 404, "no such lab")
	b.Labs = nil
	b.expect(http.MethodGet, "/api/v1/labs", "", 200, `{"enabled":false,"labs":[],"faults":[]}`)
	b.expect(http.MethodGet, one, "", 404, "controller.labs: true")
	b.expect(http.MethodPost, one+"/undo", "{}", 404, "controller.labs: true")
	b.expect(http.MethodPost, one+"/tests", `{"kind": "ping", "from": "bob", "to": "carol"}`, 404, "controller.labs: true")
}

// A test ends when who watches it goes; until then the lab is busy.
func TestLabsTestIsWatched(t *testing.T) {
	b := newBench(t)
	name := b.withLab()
	b.serve(b.Handler(owner))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := "/api/v1/labs/" + name + "/tests"
	answer := b.call(ctx, http.MethodPost, path, `{"kind": "throughput", "from": "bob", "to": "carol", "seconds": 30}`)
	defer answer.Body.Close()
	var line map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&line); err != nil || line["interval"] == nil || answer.Header.Get("Content-Type") != jsonLines {
		t.Fatalf("%s %v: %v", answer.Status, line, err)
	}
	b.expect(http.MethodPost, path, `{"kind": "ping", "from": "bob", "to": "carol"}`, 409, "under way")
	cancel()
	_, _ = io.Copy(io.Discard, answer.Body)
	b.eventually("the lab is free", func() bool {
		status, _, _ := b.ask(http.MethodPost, path, `{"kind": "ping", "from": "carol", "to": "bob"}`)
		time.Sleep(20 * time.Millisecond)
		return status == http.StatusOK
	})
}

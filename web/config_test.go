package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/web/edit"
)

// editing gives a bench its mesh file to edit.
func (b *bench) editing() {
	b.t.Helper()
	book, err := edit.Open(edit.Options{Mesh: filepath.Join(b.folder, "mesh.yaml"), Data: b.folder, Check: probe.Catalogue{},
		Demand: func(task measure.Task) measure.Demand { d, _ := probe.Demand(task); return d }})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Config = book
}

// proposal is what checks and saves send.
func proposal(version, text, comment string) string {
	doc, _ := json.Marshal(map[string]any{"version": version, "comment": comment, "files": []edit.File{{Name: "mesh.yaml", Text: text}}})
	return string(doc)
}

func checked(text string) string {
	doc, _ := json.Marshal(map[string]any{"files": []edit.File{{Name: "mesh.yaml", Text: text}}})
	return string(doc)
}

// read gets a document.
func read[T any](b *bench, path string, headers ...string) (doc T) {
	b.t.Helper()
	status, text, _ := b.ask(http.MethodGet, path, "", headers...)
	if err := json.Unmarshal([]byte(text), &doc); err != nil || status != http.StatusOK {
		b.t.Fatalf("%s: %d %s", path, status, text)
	}
	return doc
}

// An administrator reads, checks, saves and brings back the mesh file; what they save comes into force, and the audit log knows.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.editing()
	b.run()
	b.serve(b.Handler(owner))
	invitation := b.invited("anna", "admin")
	b.serve(b.Handler(Listener{Secure: true}))
	b.expect(http.MethodPost, "/api/v1/invitation", `{"token": "`+invitation+`", "password": "`+password+`"}`, 200, "anna")
	anna := b.signIn("anna", password)
	began := read[configDoc](b, "/api/v1/config", anna...)
	if len(began.Files) != 1 || began.Files[0].Text != meshText || began.Folder || began.Trouble != "" {
		t.Errorf("%+v", began)
	}
	next := strings.Replace(meshText, "b: 10.0.0.2", "b: 10.0.0.2, new: 10.0.0.5", 1)
	b.expect(http.MethodPost, "/api/v1/config/check", checked(strings.Replace(meshText, "tool: rtt", "tool: rt", 1)), 200,
		`"errors":[{"file":"mesh.yaml","line":5,"column":16,"text":"tests[0].tool: \"rt\": want the name of a tool`, anna...)
	b.expect(http.MethodPost, "/api/v1/config/check", checked(next), 200, `"changes":["new hosts: new"]`, anna...)
	b.expect(http.MethodPut, "/api/v1/config", proposal(began.Version, "hosts: {}", ""), 422, "mesh.yaml", anna...)
	b.expect(http.MethodPut, "/api/v1/config", proposal("other", next, ""), 409, "somebody changed", anna...)
	b.expect(http.MethodPut, "/api/v1/config", proposal(began.Version, next, strings.Repeat("x", 501)), 422, "comment", anna...)
	b.expect(http.MethodPut, "/api/v1/config", proposal(began.Version, next, " a new host "), 200, `"by":"anna","comment":"a new host"`, anna...)
	b.eventually("it is in force", func() bool { return len(b.Control.Mesh().Hosts) == 5 })
	b.expect(http.MethodPut, "/api/v1/config", proposal(began.Version, meshText, ""), 409, "somebody changed", anna...)

	kept := read[configHistoryDoc](b, "/api/v1/config/history", anna...)
	if len(kept.Versions) != 2 || !kept.Versions[0].Current || kept.Versions[1].Current || kept.Versions[1].By != "" || kept.Kept < 200 {
		t.Fatalf("%+v", kept)
	}
	b.expect(http.MethodGet, "/api/v1/config/history/"+kept.Versions[0].ID, "", 200, `+hosts: {a: 10.0.0.1, b: 10.0.0.2, new: 10.0.0.5,`, anna...)
	b.expect(http.MethodGet, "/api/v1/config/history/"+noID, "", 404, "no such version", anna...)
	old := read[edit.Past](b, "/api/v1/config/history/"+kept.Versions[1].ID, anna...)
	b.expect(http.MethodPut, "/api/v1/config", proposal(kept.Versions[0].Version.Version, old.Files[0].Text, "back"), 200, began.Version, anna...)
	b.eventually("the old one is in force", func() bool { return len(b.Control.Mesh().Hosts) == 4 })
	b.expect(http.MethodGet, "/api/v1/audit?limit=50", "", 200, `"what":"save configuration","on":"mesh.yaml"`, anna...)

	file := filepath.Join(b.folder, "mesh.yaml")
	if err := os.WriteFile(file, []byte("hosts: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.eventually("the trouble is known", func() bool { return b.Control.Trouble() != nil })
	now := read[configDoc](b, "/api/v1/config", anna...)
	if !strings.HasPrefix(now.Trouble, "mesh.yaml:1:8: want YAML") || strings.Contains(now.Trouble, b.folder) {
		t.Errorf("trouble: %q", now.Trouble)
	}
	b.expect(http.MethodPut, "/api/v1/config", proposal(now.Version, meshText, ""), 200, began.Version, anna...)
	b.eventually("it is mended", func() bool { return b.Control.Trouble() == nil })
}

// Nobody but an administrator sees the mesh file, and nobody leads out of its folder.
func TestConfigurationIsForAdministrators(t *testing.T) {
	b := newBench(t)
	b.editing()
	b.run()
	token, err := b.Accounts.NewToken(account.Actor{Identity: account.Owner()}, account.TokenSpec{Name: "robot", Scopes: []account.Scope{account.Read, account.Run, account.Admin}})
	if err != nil {
		t.Fatal(err)
	}
	operator := []string{"Authorization", "Bearer " + b.token("alice")}
	admin := []string{"Authorization", "Bearer " + token}
	b.serve(b.Handler(public))
	for path, method := range map[string]string{"/api/v1/config": http.MethodGet, "/api/v1/config/check": http.MethodPost, "/api/v1/config/history": http.MethodGet,
		"/api/v1/config/history/" + noID: http.MethodGet, "/api/v1/config?": http.MethodPut} {
		b.expect(method, path, checked(meshText), 401, "or a token")
		b.expect(method, path, checked(meshText), 403, "rights", operator...)
	}
	large := strings.Repeat("# x\n", maxBody)
	b.expect(http.MethodPost, "/api/v1/config/check", checked(meshText+large), 200, `"diff":`, admin...)
	b.expect(http.MethodPost, "/api/v1/config/check", checked(strings.Repeat(large, 10)), 422, "at most 1048576", admin...)
	b.expect(http.MethodPost, "/api/v1/config/check", checked(strings.Repeat(large, 30)), 413, "too large", admin...)
	for _, name := range []string{"../x.yaml", "/etc/x.yaml", "other.yaml"} {
		b.expect(http.MethodPost, "/api/v1/config/check", strings.Replace(checked(meshText), "mesh.yaml", name, 1), 422, "one, whose name is mesh.yaml", admin...)
	}
	for _, bad := range []string{"", "{", `{}`, `{"files": null}`, `{"files": [{"name": "mesh.yaml"}]}`, `{"files": [], "more": 1}`} {
		want := 422
		if bad == "" || bad == "{" {
			want = 400
		}
		b.expect(http.MethodPost, "/api/v1/config/check", bad, want, "", admin...)
		b.expect(http.MethodPut, "/api/v1/config", bad, want, "", admin...)
	}
	text, err := os.ReadFile(filepath.Join(b.folder, "mesh.yaml"))
	if err != nil || string(text) != meshText {
		t.Errorf("the mesh file is %q, %v", text, err)
	}
	b.Config = nil
	b.expect(http.MethodGet, "/api/v1/config", "", 404, "does not have", admin...)
	b.expect(http.MethodGet, "/api/v1/config/history", "", 404, "does not have", admin...)
}

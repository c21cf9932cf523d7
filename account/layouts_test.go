package account

import (
	"encoding/json"
	"errors"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is read of testdata/layouts beside it")

// The accounts of each layout that earlier builds wrote are read whole. A folder of testdata/layouts is of the commit that it is
// named after; secrets has the token of probe and the session of carol, whose password is known.
func TestLayouts(t *testing.T) {
	folders, err := filepath.Glob("testdata/layouts/*")
	if err != nil || len(folders) < 2 {
		t.Fatal("no layouts", folders, err)
	}
	for _, layout := range folders {
		folder := t.TempDir()
		for from, to := range map[string]string{"accounts.json": bookFolder, "sessions.json": bookFolder, "audit/0000000001.log": auditFolder} {
			text, err := os.ReadFile(filepath.Join(layout, from))
			if err == nil {
				err = os.MkdirAll(filepath.Join(folder, to), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, to, filepath.Base(from)), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		b, err := Open(folder, Options{Now: func() time.Time { return time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC) }})
		if err != nil {
			t.Errorf("%s: %v", layout, err)
			continue
		}
		compare(t, filepath.Join(layout, "want"), readAll(t, b, layout)...)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// readAll is all that a Book has.
func readAll(t *testing.T, b *Book, layout string) []any {
	t.Helper()
	secrets, err := os.ReadFile(filepath.Join(layout, "secrets"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(secrets))
	accounts, err1 := b.Accounts()
	tokens, err2 := b.Tokens()
	audit, err3 := b.Audit("", 100)
	l, err4 := b.sessions.get()
	password, err5 := b.Verify(t.Context(), "carol", "correct horse battery staple 1", netip.MustParseAddr("192.0.2.7"))
	token, err6 := b.Token(lines[0])
	session, err7 := b.Session(lines[1])
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		t.Fatalf("%s: %v", layout, err)
	}
	all := []any{accounts, tokens, l.Sessions, l.Known, password, token, session}
	for _, e := range audit.Entries {
		all = append(all, e)
	}
	return all
}

// compare holds what was read, a line each, against what stands in a file.
func compare(t *testing.T, path string, read ...any) {
	t.Helper()
	var got strings.Builder
	lines := json.NewEncoder(&got)
	for _, v := range read {
		if err := lines.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got):\n%s", path, err, diff)
	}
}

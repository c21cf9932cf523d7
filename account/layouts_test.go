package account

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/durable/layouttest"
)

// The accounts of each layout that earlier builds wrote are read whole. The file secrets has the token of probe and the session of
// carol, whose password is known.
func TestLayouts(t *testing.T) {
	layouttest.Run(t, func(t *testing.T, layout string) []any {
		folder := t.TempDir()
		for from, to := range map[string]string{"accounts.json": bookFolder, "sessions.json": bookFolder, "audit/0000000001.log": auditFolder} {
			layouttest.Copy(t, filepath.Join(layout, from), filepath.Join(folder, to))
		}
		b, err := Open(folder, Options{Now: func() time.Time { return time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC) }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}()
		return readAll(t, b, layout)
	})
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
	password, err5 := b.verify(t.Context(), "carol", "correct horse battery staple 1", netip.MustParseAddr("192.0.2.7"))
	token, err6 := b.Token(lines[0])
	session, err7 := b.Session(lines[1])
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		t.Fatal(err)
	}
	all := []any{accounts, tokens, l.Sessions, l.Known, password.identity(), token, session}
	for _, e := range audit.Entries {
		all = append(all, e)
	}
	return all
}

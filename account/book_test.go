package account

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fullDisk lets a folder take neither another accounts.json nor sessions.json nor a line of the log, until mend is called.
func fullDisk(t *testing.T, folder string) (mend func()) {
	t.Helper()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	var made []string
	for _, file := range []string{contentsFile, sessionsFile} {
		draft := filepath.Join(folder, bookFolder, "."+file+".new")
		must(t, os.MkdirAll(filepath.Join(draft, "in the way"), 0o700))
		made = append(made, draft)
	}
	log := filepath.Join(folder, auditFolder, "0000000002.log")
	must(t, os.Symlink("/dev/full", log))
	made = append(made, log)
	return func() {
		for _, path := range made {
			must(t, os.RemoveAll(path))
		}
	}
}

// TestFullDisk has a disk that takes nothing: what changes something fails and changes nothing, the rest goes on.
func TestFullDisk(t *testing.T) {
	folder := t.TempDir()
	b := openBook(t, folder, newClock())
	newPerson(t, b, "ann", Administrator)
	token, err := b.NewToken(owner, TokenSpec{Name: "script", Scopes: []Scope{Read}})
	must(t, err)
	before, err := b.Accounts()
	must(t, err)
	mend := fullDisk(t, folder)
	_, add := b.Add(owner, "bob", Viewer)
	_, invite := b.Invite(owner, "ann")
	for what, err := range map[string]error{
		"add": add, "invite": invite, "disable": b.Disable(owner, "ann"), "remove": b.Remove(owner, "ann"),
		"password": b.ChangePassword(t.Context(), "ann", phrase, other, office),
		"token":    b.RemoveToken(owner, "script"), "note": b.Note(Entry{What: "start test"}),
	} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v, want that the disk is full", what, err)
		}
	}
	after, err := b.Accounts()
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Errorf("%v (-before +after):\n%s", err, diff)
	}
	_, err = b.Token(token)
	expect(t, "a token", err, nil)
	_, err = b.verify(t.Context(), "ann", "wrong password", away)
	expect(t, "a wrong password", err, ErrCredentials)
	signIn(t, b, "ann", phrase, office)
	if _, err := b.Audit("", 10); err != nil {
		t.Errorf("read the log: %v", err)
	}
	mend()
	must(t, b.Remove(owner, "ann"))
}

// TestFailureIsWrittenDown has a log that takes the change, and a file that does not.
func TestFailureIsWrittenDown(t *testing.T) {
	folder := t.TempDir()
	b := openBook(t, folder, newClock())
	newPerson(t, b, "ann", Viewer)
	mend := fullDisk(t, folder)
	must(t, os.Remove(filepath.Join(folder, auditFolder, "0000000002.log")))
	if err := b.Remove(owner, "ann"); err == nil {
		t.Error("removed on a full disk")
	}
	mend()
	want := []string{"remove account ann: failed, and nothing was changed", "remove account ann: ok",
		"set password by invitation ann: ok", "add account as viewer ann: ok"}
	if diff := cmp.Diff(want, whats(t, b)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"spoilt", `{"schema": "pathwise.accounts/1", "accounts": [`, "EOF"},
		{"empty", "", "EOF"},
		{"of a newer release", `{"schema": "pathwise.accounts/2"}`, "newer release"},
		{"with more than we know", `{"schema": "pathwise.accounts/1", "teams": []}`, "teams"},
		{"two documents", `{"schema": "pathwise.accounts/1"} {}`, "more than one"},
		{"two of a name", `{"schema": "pathwise.accounts/1", "accounts": [
			{"name": "a", "role": "admin", "made": "2026-11-22T00:00:00Z", "stamp": "x"},
			{"name": "A", "role": "viewer", "made": "2026-11-22T00:00:00Z", "stamp": "x"}]}`, `"A"`},
		{"a role that there is not", `{"schema": "pathwise.accounts/1", "accounts": [
			{"name": "a", "role": "root", "made": "2026-11-22T00:00:00Z", "stamp": "x"}]}`, `"a"`},
		{"null", `{"schema": "pathwise.accounts/1", "accounts": [null]}`, "null"},
	} {
		folder := t.TempDir()
		must(t, os.Mkdir(filepath.Join(folder, bookFolder), 0o700))
		must(t, os.WriteFile(filepath.Join(folder, bookFolder, contentsFile), []byte(c.content), 0o600))
		b, err := Open(folder, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if err == nil {
			must(t, b.Close())
		}
	}
	_, err := Open(filepath.Join(t.TempDir(), "none"), Options{})
	expect(t, "no folder", err, fs.ErrNotExist)
}

// TestFileTakenAway has accounts.json removed while a controller runs: it lets nobody in, and begins no new one.
func TestFileTakenAway(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	newPerson(t, b, "ann", Administrator)
	session := signIn(t, b, "ann", phrase, office)
	must(t, os.Remove(b.contents.path))
	if _, err := b.Session(session); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("session: %v, want that the file is gone", err)
	}
	if secret, err := b.InviteFirst("admin"); err == nil {
		t.Errorf("a first administrator was invited: %q", secret)
	}
	if _, err := b.Add(owner, "eve", Administrator); err == nil {
		t.Error("an account was added")
	}
}

// TestTwoProcesses has this process and two others make tokens: none is lost, and each counts here at once.
func TestTwoProcesses(t *testing.T) {
	folder := t.TempDir()
	b := openBook(t, folder, newClock())
	var all sync.WaitGroup
	for _, name := range []string{"first", "second"} {
		cmd, made := child(t, folder, name, "20")
		all.Go(func() {
			for made.Scan() {
				if _, err := b.Token(made.Text()); err != nil {
					t.Errorf("token of the %s process: %v", name, err)
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for n := range 20 {
		_, err := b.NewToken(owner, TokenSpec{Name: fmt.Sprint("own-", n), Scopes: []Scope{Read}})
		must(t, err)
	}
	all.Wait()
	tokens, err := b.Tokens()
	if len(tokens) != 60 || err != nil {
		t.Errorf("%d tokens, %v, want 60", len(tokens), err)
	}
	if lines := whats(t, b); len(lines) != 60 {
		t.Errorf("%d lines in the log, want 60", len(lines))
	}
}

// TestKilledWhileWriting kills a process that writes: what it said it made is there, and all can go on.
func TestKilledWhileWriting(t *testing.T) {
	folder := t.TempDir()
	var said []string
	for n := range 3 {
		cmd, made := child(t, folder, fmt.Sprint("round-", n), "-")
		for range 3 + 4*n {
			if !made.Scan() {
				t.Fatal(cmd.Wait())
			}
			said = append(said, made.Text())
		}
		must(t, cmd.Process.Kill())
		for made.Scan() {
			said = append(said, made.Text())
		}
		_ = cmd.Wait()
		b := openBook(t, folder, newClock())
		for _, token := range said {
			if len(token) < 50 {
				continue // cut by the kill
			}
			_, err := b.Token(token)
			expect(t, "a token that was made", err, nil)
		}
		tokens, err := b.Tokens()
		must(t, err)
		lines := whats(t, b)
		if len(lines) < len(tokens) {
			t.Errorf("%d tokens, %d lines in the log: something was done that was not written down", len(tokens), len(lines))
		}
		must(t, b.Close())
	}
}

func TestBookIsConcurrent(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	books := []*Book{openBook(t, folder, c), openBook(t, folder, c)}
	newPerson(t, books[0], "ann", Viewer)
	signIn(t, books[0], "ann", phrase, office)
	token, err := books[0].NewToken(owner, TokenSpec{Name: "script", Scopes: []Scope{Read}})
	must(t, err)
	var all sync.WaitGroup
	for n := range 4 {
		b := books[n%2]
		all.Go(func() {
			for range 5 {
				secret, _, err := b.SignIn(t.Context(), "ann", phrase, office)
				if err != nil {
					t.Error(err)
					return
				}
				for _, beside := range books {
					if _, err := beside.Session(secret); err != nil {
						t.Errorf("a session that has just begun: %v", err)
					}
					if _, err := beside.Token(token); err != nil {
						t.Error(err)
					}
				}
				if err := b.EndSession(secret, office); err != nil {
					t.Error(err)
				}
				if _, err := books[(n+1)%2].Session(secret); !errors.Is(err, ErrSession) {
					t.Errorf("a session that has just ended: %v", err)
				}
			}
		})
	}
	all.Wait()
}

func FuzzParseContents(f *testing.F) {
	f.Add([]byte(`{"schema": "pathwise.accounts/1", "accounts": [{"name": "ann", "role": "admin", "password": "` + reference + `",
		"made": "2026-11-22T09:00:00Z", "stamp": "X"}], "invitations": [{"hash": "` + strings.Repeat("0a", 32) + `",
		"name": "ann", "expires": "2026-11-22T09:00:00Z"}], "tokens": [{"name": "t", "hash": "` + strings.Repeat("0b", 32) + `",
		"scopes": ["read"], "made": "2026-11-22T09:00:00Z", "made_by": "ann"}]}`))
	f.Add([]byte(`{"schema": "pathwise.accounts/1", "accounts": null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		roundTrip(t, text, parseContents)
	})
}

func FuzzReadSessions(f *testing.F) {
	f.Add([]byte(`{"schema": "pathwise.sessions/1", "sessions": [{"hash": "` + strings.Repeat("0a", 32) + `", "name": "ann",
		"stamp": "X", "made": "2026-11-22T09:00:00Z", "seen": "2026-11-22T09:00:00Z", "network": "192.0.2.7/32"}],
		"known": [{"name": "ann", "network": "2001:db8::/64", "seen": "2026-11-22T09:00:00Z"}],
		"uses": {"` + strings.Repeat("0b", 32) + `": "2026-11-22T09:00:00Z"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		roundTrip(t, text, readSessions)
		l, err := readSessions(text)
		if err != nil {
			return
		}
		m := memory{pending: pending{map[digest]*session{{}: nil}, nil}}
		m.mergeInto(l)
		c, _ := parseContents(nil)
		if l.prune(c, newClock().now()); len(l.Sessions)+len(l.Known)+len(l.Uses) > 0 {
			t.Errorf("%+v is kept of no account", l)
		}
	})
}

// roundTrip demands that what can be read is written so that it is read alike.
func roundTrip[T any](t *testing.T, text []byte, parse func([]byte) (*T, error)) {
	if text == nil {
		text = []byte{}
	}
	v, err := parse(text)
	if err != nil {
		return
	}
	var once, twice bytes.Buffer
	if err := toJSON(v)(&once); err != nil {
		return // such as a time beyond the year 9999
	}
	again, err := parse(once.Bytes())
	if err != nil {
		t.Fatalf("%s\nwas written as\n%s\nand that is refused: %v", text, &once, err)
	}
	if err := toJSON(again)(&twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) || !json.Valid(once.Bytes()) {
		t.Errorf("%s\nbecame\n%s\nthen\n%s", text, &once, &twice)
	}
}

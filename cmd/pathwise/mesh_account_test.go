package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Accounts are made, listed, changed and taken away; what a call lacks is said in one line.
func TestMeshAccount(t *testing.T) {
	data := t.TempDir()
	expect := func(want int, has string, args ...string) string {
		t.Helper()
		status, out, complaint := pathwise(t, append([]string{"mesh", "account", "--data", data}, args...)...)
		if status != want || !strings.Contains(out+complaint, has) || want != exitDone && strings.Count(complaint, "\n") != 1 {
			t.Errorf("%v: exit status %d, want %d with %q: %s%s", args, status, want, has, out, complaint)
		}
		return out
	}
	expect(exitDone, "account")
	link := expect(exitDone, "http://127.0.0.1:8080/#/welcome?token=", "alice", "--role", "admin")
	if again := expect(exitDone, "https://mesh.example.org/#/welcome?token=", "alice", "--page", "https://mesh.example.org/"); again == link {
		t.Error("an invitation is given twice")
	}
	expect(exitDone, "token=", "bob")
	expect(exitDone, "bob is operator now", "bob", "--role", "operator")
	if list := expect(exitDone, "none yet"); !strings.Contains(list, "alice") || !strings.Contains(list, "operator") {
		t.Error(list)
	}
	expect(exitDone, "bob can sign in no more", "bob", "--disable")
	expect(exitDone, `"done": "can sign in again"`, "bob", "--enable", "--json")
	expect(exitDone, "bob has no account any more", "bob", "--remove")
	expect(exitBadCall, "none of that name", "bob", "--remove")
	expect(exitBadCall, `role "king"`, "eve", "--role", "king")
	expect(exitBadCall, "name", "../eve")
	expect(exitBadCall, "--remove: want it without --disable", "alice", "--remove", "--disable")
	expect(exitBadCall, "--enable: want it without --role", "alice", "--role", "admin", "--enable")
	expect(exitBadCall, "--remove: want the NAME", "--remove")
	expect(exitBadCall, "the name is taken, by alice", "Alice")
	expect(exitBadCall, "the name is taken, by alice", "Alice", "--role", "viewer")
	data = filepath.Join(data, "none")
	expect(exitBadCall, "want the folder of a controller", "alice")
}

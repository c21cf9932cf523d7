package account

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhoMayWhat(t *testing.T) {
	account := func(r Role) Identity { return Identity{Name: "ann", Role: r, Scopes: r.Scopes(), Kind: KindAccount} }
	for _, c := range []struct {
		name                       string
		who                        Identity
		read, run, admin, accounts bool
	}{
		{"nobody", Identity{}, false, false, false, false},
		{"public", Public(), true, false, false, false},
		{"viewer", account(Viewer), true, false, false, false},
		{"operator", account(Operator), true, true, false, false},
		{"administrator", account(Administrator), true, true, true, true},
		{"owner", Owner(), true, true, true, true},
		{"token to run", Identity{Kind: KindToken, Scopes: []Scope{Run}}, false, true, false, false},
		{"token of an administrator", Identity{Kind: KindToken, Scopes: []Scope{Read, Run, Admin}}, true, true, true, false},
		{"no such role", account("root"), false, false, false, false},
	} {
		got := []bool{c.who.May(Read), c.who.May(Run), c.who.May(Admin), c.who.manages()}
		if diff := cmp.Diff([]bool{c.read, c.run, c.admin, c.accounts}, got); diff != "" {
			t.Errorf("%s: read, run, admin, accounts (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestParseScopes(t *testing.T) {
	got, err := ParseScopes([]string{"admin", "read", "read"})
	if diff := cmp.Diff([]Scope{Read, Admin}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, bad := range [][]string{nil, {"write"}, {"read", ""}} {
		if got, err := ParseScopes(bad); err == nil {
			t.Errorf("%q gives %v", bad, got)
		}
	}
}

package account

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pathwise-net/pathwise/input"
)

func TestFirstAdministrator(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	b := openBook(t, folder, c)
	void, err := b.InviteFirst("admin")
	must(t, err)
	b = openBook(t, folder, c) // the controller starts anew before anybody followed the link
	invitation, err := b.InviteFirst("admin")
	must(t, err)
	_, err = b.Accept(t.Context(), void, phrase, office)
	expect(t, "the former link", err, ErrInvitation)
	_, err = b.Accept(t.Context(), invitation, "short", office)
	if !input.Bad(err) {
		t.Errorf("a short password: %v", err)
	}
	who, err := b.Accept(t.Context(), invitation, phrase, office)
	must(t, err)
	want := Identity{Name: "admin", Role: Administrator, Scopes: []Scope{Read, Run, Admin}, Kind: KindAccount}
	if diff := cmp.Diff(want, who); diff != "" {
		t.Errorf("first administrator (-want +got):\n%s", diff)
	}
	_, err = b.Accept(t.Context(), invitation, other, office)
	expect(t, "the link again", err, ErrInvitation)
	none, err := b.InviteFirst("admin")
	if none != "" || err != nil {
		t.Errorf("with an administrator: %q, %v", none, err)
	}
	signIn(t, b, "admin", phrase, office)
	must(t, b.SetRole(owner, "admin", Viewer))
	invitation, err = b.InviteFirst("Admin") // must not make the viewer one
	must(t, err)
	name, err := b.Invited(invitation)
	if name != "Admin-2" || err != nil {
		t.Errorf("invitation is for %q, %v", name, err)
	}
}

func TestInvitations(t *testing.T) {
	c := newClock()
	b := openBook(t, t.TempDir(), c)
	accept := func(secret string) error {
		_, err := b.Accept(t.Context(), secret, phrase, office)
		return err
	}
	first, err := b.Add(owner, "ann", Viewer)
	must(t, err)
	c.add(inviteLife)
	expect(t, "after 24 h", accept(first), ErrInvitation)
	second, err := b.Invite(owner, "ann")
	must(t, err)
	third, err := b.Invite(owner, "ann")
	must(t, err)
	expect(t, "one that was replaced", accept(second), ErrInvitation)
	must(t, b.Disable(owner, "ann"))
	expect(t, "of a disabled account", accept(third), ErrInvitation)
	if _, err := b.Invite(owner, "ann"); err == nil {
		t.Error("a disabled account was invited")
	}
	must(t, b.Enable(owner, "ann"))
	expect(t, "after it was enabled", accept(third), ErrInvitation)
	fourth, err := b.Invite(owner, "ann")
	must(t, err)
	expect(t, "the last", accept(fourth), nil)
	fifth, err := b.Invite(owner, "ann")
	must(t, err)
	signIn(t, b, "ann", phrase, office) // the password counts on
	must(t, b.Remove(owner, "ann"))
	expect(t, "of an account that is gone", accept(fifth), ErrInvitation)
	expect(t, "empty", accept(""), ErrInvitation)
	_, err = b.Invite(owner, "ann")
	expect(t, "nobody", err, ErrUnknown)
}

// TestInvitationWorksOnce has several take one up at the same time, in two books.
func TestInvitationWorksOnce(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	books := []*Book{openBook(t, folder, c), openBook(t, folder, c)}
	invitation, err := books[0].Add(owner, "ann", Viewer)
	must(t, err)
	var all sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for n := range 8 {
		all.Go(func() {
			if _, err := books[n%2].Accept(t.Context(), invitation, phrase, office); err == nil {
				mu.Lock()
				taken++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if taken != 1 {
		t.Errorf("taken up %d times", taken)
	}
}

func TestChangePassword(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	newPerson(t, b, "ann", Viewer)
	change := func(old, password string) error {
		return b.ChangePassword(context.Background(), "ann", old, password, office)
	}
	expect(t, "wrong old password", change(other, "nine quiet purple hats"), ErrCredentials)
	for _, bad := range []string{"short", phrase} {
		if err := change(phrase, bad); err == nil {
			t.Errorf("password %q was taken", bad)
		}
	}
	must(t, change(phrase, other))
	_, err := b.verify(t.Context(), "ann", phrase, office)
	expect(t, "the old one", err, ErrCredentials)
	signIn(t, b, "ann", other, office)
}

func TestChangePasswordIsThrottled(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	newPerson(t, b, "ann", Viewer)
	for range freeAttempts {
		expect(t, "wrong", b.ChangePassword(t.Context(), "ann", "wrong password", other, away), ErrCredentials)
	}
	var later *Later
	if err := b.ChangePassword(t.Context(), "ann", phrase, other, away); !errors.As(err, &later) {
		t.Errorf("%v, want a wait", err)
	}
}

func TestWhoMayChangeAccounts(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	boss := newPerson(t, b, "boss", Administrator)
	ann := newPerson(t, b, "ann", Viewer)
	bob := newPerson(t, b, "bob", Operator)
	machine := Actor{Identity{Name: "machine", Scopes: Administrator.Scopes(), Kind: KindToken}, office}
	public := Actor{Identity: Public()}
	for _, by := range []Actor{ann, bob, machine, public, {}} {
		_, add := b.Add(by, "eve", Administrator)
		_, invite := b.Invite(by, "boss")
		for what, err := range map[string]error{
			"add": add, "invite": invite, "role": b.SetRole(by, "ann", Administrator), "disable": b.Disable(by, "boss"),
			"enable": b.Enable(by, "boss"), "remove": b.Remove(by, "boss"),
		} {
			expect(t, string(by.Kind)+" "+by.Name+": "+what, err, ErrDenied)
		}
	}
	expect(t, "the last administrator disabled", b.Disable(boss, "boss"), ErrLastAdmin)
	expect(t, "the last administrator made a viewer", b.SetRole(boss, "boss", Viewer), ErrLastAdmin)
	expect(t, "of two changes the second", b.Change(boss, "boss", Change{Administrator, new(true)}), ErrLastAdmin)
	expect(t, "the last administrator removed", b.Remove(boss, "boss"), ErrLastAdmin)
	second := newPerson(t, b, "second", Administrator)
	expect(t, "one of two", b.Disable(second, "boss"), nil)
	expect(t, "the owner needs none", b.Remove(owner, "second"), nil)
	_, err := b.Add(owner, "ANN", Viewer)
	expect(t, "a name that looks the same", err, ErrTaken)
	_, err = b.Add(owner, "a b", Viewer)
	if err == nil {
		t.Error("a name with a space was taken")
	}
	_, err = b.Add(owner, "eve", "root")
	if err == nil {
		t.Error("a role was taken that there is not")
	}
}

func TestAccounts(t *testing.T) {
	c := newClock()
	b := openBook(t, t.TempDir(), c)
	newPerson(t, b, "bob", Operator)
	_, err := b.Add(owner, "ann", Viewer)
	must(t, err)
	must(t, b.Disable(owner, "bob"))
	got, err := b.Accounts()
	must(t, err)
	want := []Account{
		{Name: "ann", Role: Viewer, Made: c.now(), Invited: c.now().Add(24 * time.Hour)},
		{Name: "bob", Role: Operator, Made: c.now(), Disabled: true, Password: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
}

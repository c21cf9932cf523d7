package account

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTokens(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	b := openBook(t, folder, c)
	ann := newPerson(t, b, "ann", Operator)
	text, err := b.NewToken(ann, TokenSpec{Name: "script", Scopes: []Scope{Run, Read}, Expires: c.now().Add(time.Hour)})
	must(t, err)
	if !strings.HasPrefix(text, "pathwise_") || len(text) < len("pathwise_")+43 {
		t.Errorf("%q: want a prefix and 256 bits", text)
	}
	made := c.now()
	c.add(time.Minute)
	who, err := b.Token(text)
	must(t, err)
	if diff := cmp.Diff(Identity{Name: "script", Scopes: []Scope{Read, Run}, Kind: KindToken}, who); diff != "" {
		t.Errorf("who (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", text[1:], text + " ", strings.Repeat("x", 1<<20), strings.ToUpper(text)} {
		_, err := b.Token(bad)
		expect(t, "a wrong token", err, ErrToken)
	}
	_, err = b.Session(text)
	expect(t, "a token as a session", err, ErrSession)
	session := signIn(t, b, "ann", phrase, office)
	_, err = b.Token(session)
	expect(t, "a session as a token", err, ErrToken)
	must(t, b.Close())
	b = openBook(t, folder, c)
	got, err := b.Tokens()
	must(t, err)
	want := []Token{{Name: "script", Scopes: []Scope{Read, Run}, Made: made, MadeBy: "ann",
		Expires: made.Add(time.Hour), Used: made.Add(time.Minute)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tokens after a restart (-want +got):\n%s", diff)
	}
	c.add(59 * time.Minute)
	_, err = b.Token(text)
	expect(t, "expired", err, ErrToken)
	must(t, b.RemoveToken(ann, "script"))
	expect(t, "one that is gone", b.RemoveToken(ann, "script"), ErrUnknown)
}

func TestTokenDoesNoMoreThanItsMaker(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	ann := newPerson(t, b, "ann", Administrator)
	text, err := b.NewToken(ann, TokenSpec{Name: "script", Scopes: []Scope{Read, Run, Admin}})
	must(t, err)
	ofOwner, err := b.NewToken(owner, TokenSpec{Name: "service", Scopes: []Scope{Admin}})
	must(t, err)
	scopes := func() []Scope {
		who, err := b.Token(text)
		must(t, err)
		return who.Scopes
	}
	must(t, b.SetRole(owner, "ann", Operator))
	if diff := cmp.Diff([]Scope{Read, Run}, scopes()); diff != "" {
		t.Errorf("of an operator (-want +got):\n%s", diff)
	}
	must(t, b.Disable(owner, "ann"))
	_, err = b.Token(text)
	expect(t, "maker disabled", err, ErrToken)
	must(t, b.Enable(owner, "ann"))
	must(t, b.SetRole(owner, "ann", Administrator))
	if diff := cmp.Diff([]Scope{Read, Run, Admin}, scopes()); diff != "" {
		t.Errorf("of an administrator again (-want +got):\n%s", diff)
	}
	must(t, b.Remove(owner, "ann"))
	_, err = b.Add(owner, "ann", Administrator)
	must(t, err)
	_, err = b.Token(text)
	expect(t, "of one that had the name before", err, ErrToken)
	_, err = b.Token(ofOwner)
	expect(t, "the owner's", err, nil)
}

func TestWhoMayMakeAndRemoveTokens(t *testing.T) {
	c := newClock()
	b := openBook(t, t.TempDir(), c)
	boss := newPerson(t, b, "boss", Administrator)
	ann := newPerson(t, b, "ann", Operator)
	bob := newPerson(t, b, "bob", Operator)
	machine := Actor{Identity{Name: "machine", Scopes: Administrator.Scopes(), Kind: KindToken}, office}
	make := func(by Actor, name string, replace bool, scopes ...Scope) error {
		_, err := b.NewToken(by, TokenSpec{Name: name, Scopes: scopes, Replace: replace})
		return err
	}
	expect(t, "what one may oneself", make(ann, "anns", false, Read, Run), nil)
	expect(t, "more than one may", make(ann, "more", false, Admin), ErrDenied)
	expect(t, "a token of a token", make(machine, "more", false, Read), ErrDenied)
	expect(t, "public", make(Actor{Identity: Public()}, "more", false, Read), ErrDenied)
	expect(t, "a name in use", make(ann, "anns", false, Read), ErrTaken)
	expect(t, "another's replaced", make(bob, "anns", true, Read), ErrDenied)
	expect(t, "one's own replaced", make(ann, "anns", true, Read), nil)
	expect(t, "another's removed", b.RemoveToken(bob, "anns"), ErrDenied)
	expect(t, "a token removes", b.RemoveToken(machine, "anns"), ErrDenied)
	expect(t, "an administrator removes", b.RemoveToken(boss, "anns"), nil)
	for what, spec := range map[string]TokenSpec{
		"no scope":    {Name: "x"},
		"no name":     {Scopes: []Scope{Read}},
		"bad scope":   {Name: "x", Scopes: []Scope{"write"}},
		"in the past": {Name: "x", Scopes: []Scope{Read}, Expires: c.now()},
	} {
		if _, err := b.NewToken(owner, spec); err == nil {
			t.Errorf("%s: was made", what)
		}
	}
}

// TestAdoptTokens has the folder of a controller of an earlier release.
func TestAdoptTokens(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	old := filepath.Join(folder, oldFolder)
	must(t, os.Mkdir(old, 0o700))
	put := func(name, content string) { must(t, os.WriteFile(filepath.Join(old, name), []byte(content), 0o600)) }
	line := func(token string) string {
		sum := sha256.Sum256([]byte(token))
		return hex.EncodeToString(sum[:]) + "\n"
	}
	put("alice", line("ALICES"))
	put("bob", line("BOBS"))
	put("taken", line("OTHER"))
	put("spoilt", "no hash")
	put("huge", strings.Repeat("0", 1000))
	put(".carol.new", line("CAROLS"))

	b := openBook(t, folder, c)
	_, err := b.NewToken(owner, TokenSpec{Name: "taken", Scopes: []Scope{Read}})
	must(t, err)
	adopted, err := b.AdoptTokens()
	must(t, err)
	if diff := cmp.Diff([]string{"alice", "bob"}, adopted); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
	who, err := b.Token("ALICES")
	if diff := cmp.Diff(Identity{Name: "alice", Scopes: []Scope{Read, Run}, Kind: KindToken}, who); diff != "" || err != nil {
		t.Errorf("alice: %v (-want +got):\n%s", err, diff)
	}
	left, err := os.ReadDir(old)
	must(t, err)
	var names []string
	for _, f := range left {
		names = append(names, f.Name())
	}
	if diff := cmp.Diff([]string{".carol.new", "huge", "spoilt", "taken"}, names); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	put("alice", line("ALICES")) // killed before the file was taken away
	adopted, err = b.AdoptTokens()
	if diff := cmp.Diff([]string{"alice"}, adopted); diff != "" || err != nil {
		t.Errorf("again: %v (-want +got):\n%s", err, diff)
	}
	must(t, b.RemoveToken(owner, "alice"))
	_, err = b.Token("ALICES")
	expect(t, "revoked", err, ErrToken)
	none, err := openBook(t, t.TempDir(), c).AdoptTokens()
	if none != nil || err != nil {
		t.Errorf("without the folder: %v, %v", none, err)
	}
}

func FuzzParseOldToken(f *testing.F) {
	f.Add([]byte(strings.Repeat("0a", 32) + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		hash, err := parseOldToken(text)
		if err == nil && !strings.EqualFold(hex.EncodeToString(hash[:]), strings.TrimSpace(string(text))) {
			t.Errorf("%q gives %x", text, hash)
		}
	})
}

package account

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVerify(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	newPerson(t, b, "ann", Operator)
	newPerson(t, b, "gone", Viewer)
	must(t, b.Disable(owner, "gone"))
	_, err := b.Add(owner, "new", Viewer)
	must(t, err)
	for _, c := range []struct {
		name, password string
		want           error
	}{
		{"ann", phrase, nil},
		{"ann", other, ErrCredentials},
		{"ann", "", ErrCredentials},
		{"ANN", phrase, ErrCredentials},
		{"nobody", phrase, ErrCredentials},
		{"gone", phrase, ErrCredentials},
		{"new", phrase, ErrCredentials},
		{"new", "", ErrCredentials},
		{"", "", ErrCredentials},
		{"ann", strings.Repeat("x", longestPassword+1), ErrCredentials},
		{strings.Repeat("x", 1<<20), phrase, ErrCredentials},
	} {
		b.verifier.throttle = newThrottle()
		var who Identity
		p, err := b.verify(t.Context(), c.name, c.password, away)
		if p != nil {
			who = p.identity()
		}
		expect(t, c.name, err, c.want)
		want := Identity{}
		if c.want == nil {
			want = Identity{Name: "ann", Role: Operator, Scopes: []Scope{Read, Run}, Kind: KindAccount}
		}
		if diff := cmp.Diff(want, who); diff != "" {
			t.Errorf("%.20s (-want +got):\n%s", c.name, diff)
		}
	}
	if b.dummy.cost != b.verifier.cost {
		t.Errorf("a name that there is not takes %+v, want %+v", b.dummy.cost, b.verifier.cost)
	}
}

func TestSessionsEnd(t *testing.T) {
	c := newClock()
	for _, test := range []struct {
		name string
		do   func(b *Book, secret string) error
		want error
	}{
		{"nothing", func(*Book, string) error { return nil }, nil},
		{"11 h idle", func(*Book, string) error { c.add(11 * time.Hour); return nil }, nil},
		{"12 h idle", func(*Book, string) error { c.add(12 * time.Hour); return nil }, ErrSession},
		{"used, a day", func(b *Book, s string) error { return use(b, c, s, 24*time.Hour) }, nil},
		{"used, a week", func(b *Book, s string) error { return use(b, c, s, 7*24*time.Hour) }, ErrSession},
		{"clock set back a little", func(*Book, string) error { c.add(-time.Minute); return nil }, nil},
		{"clock set back a year", func(*Book, string) error { c.add(-365 * 24 * time.Hour); return nil }, ErrSession},
		{"sign out", func(b *Book, s string) error { return b.EndSession(s, office) }, ErrSession},
		{"disabled", func(b *Book, _ string) error { return b.Disable(owner, "ann") }, ErrSession},
		{"disabled and enabled", func(b *Book, _ string) error {
			return errors.Join(b.Disable(owner, "ann"), b.Enable(owner, "ann"))
		}, ErrSession},
		{"removed", func(b *Book, _ string) error { return b.Remove(owner, "ann") }, ErrSession},
		{"removed and made again", func(b *Book, _ string) error {
			err := b.Remove(owner, "ann")
			_, err2 := b.Add(owner, "ann", Administrator)
			return errors.Join(err, err2)
		}, ErrSession},
		{"password changed", func(b *Book, _ string) error {
			return b.ChangePassword(context.Background(), "ann", phrase, other, office)
		}, ErrSession},
		{"password by invitation", func(b *Book, _ string) error {
			invitation, err := b.Invite(owner, "ann")
			_, err2 := b.Accept(context.Background(), invitation, other, office)
			return errors.Join(err, err2)
		}, ErrSession},
		{"invited alone", func(b *Book, _ string) error { _, err := b.Invite(owner, "ann"); return err }, nil},
		{"another role", func(b *Book, _ string) error { return b.SetRole(owner, "ann", Operator) }, nil},
		{"sessions.json spoilt", func(b *Book, _ string) error {
			return os.WriteFile(b.sessions.path, []byte(`{"sessions": [null]}`), 0o600)
		}, ErrSession},
	} {
		folder := t.TempDir()
		b := openBook(t, folder, c)
		newPerson(t, b, "ann", Viewer)
		secret := signIn(t, b, "ann", phrase, office)
		must(t, test.do(b, secret))
		beside := openBook(t, folder, c)
		_, err := b.Session(secret)
		expect(t, test.name, err, test.want)
		_, err = beside.Session(secret)
		expect(t, test.name+", seen by another book", err, test.want)
		must(t, b.Close())
		_, err = openBook(t, folder, c).Session(secret)
		expect(t, test.name+", after a restart", err, test.want)
	}
}

// use uses a session every hour.
func use(b *Book, c *clock, secret string, length time.Duration) error {
	for ; length > time.Hour; length -= time.Hour {
		c.add(time.Hour)
		if _, err := b.Session(secret); err != nil {
			return err
		}
	}
	c.add(time.Hour)
	return b.Tidy()
}

func TestRoleCountsInOpenSessions(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	newPerson(t, b, "ann", Administrator)
	secret := signIn(t, b, "ann", phrase, office)
	must(t, b.SetRole(owner, "ann", Viewer))
	who, err := b.Session(secret)
	if err != nil || who.May(Run) || !who.May(Read) {
		t.Errorf("%+v, %v; want a viewer", who, err)
	}
}

func TestSecretsAreNotOnDisk(t *testing.T) {
	folder := t.TempDir()
	b := openBook(t, folder, newClock())
	newPerson(t, b, "ann", Viewer)
	session := signIn(t, b, "ann", phrase, office)
	token, err := b.NewToken(owner, TokenSpec{Name: "script", Scopes: []Scope{Read}})
	must(t, err)
	invitation, err := b.Add(owner, "bob", Viewer)
	must(t, err)
	_, err = b.verify(t.Context(), phrase, "typed in the wrong field", away)
	expect(t, "a password for a name", err, ErrCredentials)
	files := 0
	must(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		info, infoErr := d.Info()
		if err := errors.Join(err, infoErr); err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && path != folder {
			t.Errorf("%s: mode %v, want it for its owner alone", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		for _, secret := range []string{session, token, strings.TrimPrefix(token, tokenPrefix), invitation, phrase} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s has %q in it", path, secret)
			}
		}
		return err
	}))
	if files < 4 {
		t.Errorf("%d files, want accounts, sessions, lock and log", files)
	}
}

func TestOneAccountsSessionsAreBounded(t *testing.T) {
	c := newClock()
	b := openBook(t, t.TempDir(), c)
	newPerson(t, b, "ann", Viewer)
	first := signIn(t, b, "ann", phrase, office)
	for range mostSessions {
		c.add(time.Minute)
		signIn(t, b, "ann", phrase, office)
	}
	_, err := b.Session(first)
	expect(t, "the one longest unused", err, ErrSession)
	l, err := b.sessions.get()
	if err != nil || len(l.Sessions) != mostSessions {
		t.Errorf("%d sessions, %v, want %d", len(l.Sessions), err, mostSessions)
	}
}

// TestHashOfAnotherCost has an account whose password an earlier release hashed.
func TestHashOfAnotherCost(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	b := openBook(t, folder, c)
	newPerson(t, b, "ann", Viewer)
	secret := signIn(t, b, "ann", phrase, office)
	dearer := cost{kib: 128, passes: 2, lanes: 1}
	b, err := open(folder, Options{Now: c.now}, dearer)
	must(t, err)
	defer b.Close()
	for range 2 {
		_, err = b.verify(t.Context(), "ann", phrase, office)
		expect(t, "verify", err, nil)
	}
	now, err := b.contents.get()
	if err != nil || now.people["ann"].Password.cost != dearer {
		t.Errorf("%v, %v; want a hash of %+v", now.people["ann"].Password, err, dearer)
	}
	_, err = b.Session(secret)
	expect(t, "the session goes on", err, nil)
	renewals := slices.DeleteFunc(whats(t, b), func(s string) bool { return s != "renew hash of password ann: ok" })
	if len(renewals) != 1 {
		t.Errorf("%d renewals, want 1", len(renewals))
	}
}

// TestQueueIsBounded holds the passwordVerifier, so that attempts pile up before it.
func TestQueueIsBounded(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	newPerson(t, b, "ann", Viewer)
	signIn(t, b, "ann", phrase, office)
	b.verifier.slot <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	refused := make(chan error, 2*longestQueue)
	for range 2 * longestQueue {
		all.Go(func() {
			_, err := b.verify(ctx, "ann", phrase, away)
			refused <- err
		})
	}
	for range longestQueue { // the others wait
		var later *Later
		if err := <-refused; !errors.As(err, &later) || later.After != busyAfter {
			t.Fatalf("%v, want to be told to come later", err)
		}
	}
	all.Go(func() {
		if _, err := b.verify(t.Context(), "ann", phrase, office); err != nil {
			t.Errorf("from a known network: %v", err)
		}
	})
	for b.verifier.waiting.Load() <= longestQueue {
		time.Sleep(time.Millisecond)
	}
	cancel()
	for range longestQueue {
		if err := <-refused; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that the caller went away", err)
		}
	}
	<-b.verifier.slot
}

// TestParallelAttemptsAreCounted sends many guesses at once: no more are looked at than one after another.
func TestParallelAttemptsAreCounted(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	newPerson(t, b, "ann", Viewer)
	var all sync.WaitGroup
	var mu sync.Mutex
	looked := 0
	for range 60 {
		all.Go(func() {
			if _, err := b.verify(t.Context(), "ann", "wrong password", away); errors.Is(err, ErrCredentials) {
				mu.Lock()
				looked++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if looked != freeAttempts {
		t.Errorf("%d passwords looked at, want %d", looked, freeAttempts)
	}
}

func TestSignInOnAFullDisk(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	b := openBook(t, folder, c)
	newPerson(t, b, "ann", Viewer)
	before := signIn(t, b, "ann", phrase, office)
	mend := fullDisk(t, folder)
	during := signIn(t, b, "ann", phrase, office)
	for _, secret := range []string{before, during} {
		_, err := b.Session(secret)
		expect(t, "a session on a full disk", err, nil)
	}
	if err := b.EndSession(before, office); err == nil {
		t.Error("to sign out on a full disk is no error")
	}
	_, err := b.Session(before)
	expect(t, "who signed out", err, ErrSession)
	mend()
	must(t, b.Close())
	b = openBook(t, folder, c)
	_, err = b.Session(during)
	expect(t, "after a restart", err, nil)
	_, err = b.Session(before)
	expect(t, "who signed out, after a restart", err, ErrSession)
}

package account

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// cheap is what a hash costs in tests that are not about its cost.
var cheap = cost{kib: 64, passes: 1, lanes: 1}

// clock is what time it is in a test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// openBook opens a folder's accounts with cheap hashes. It is closed at the end of the test, if the test has not.
func openBook(t testing.TB, folder string, c *clock) *Book {
	t.Helper()
	b, err := open(folder, Options{Now: c.now}, cheap)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

var (
	owner  = Actor{Identity: Owner()}
	office = netip.MustParseAddr("192.0.2.7")
	away   = netip.MustParseAddr("2001:db8:0:1::7")
)

const (
	phrase = "seven slow green lamps"
	other  = "eight fast white doors"
)

// person makes an account with a password.
func newPerson(t testing.TB, b *Book, name string, role Role) Actor {
	t.Helper()
	invitation, err := b.Add(owner, name, role)
	if err != nil {
		t.Fatal(err)
	}
	who, err := b.Accept(t.Context(), invitation, phrase, office)
	if err != nil {
		t.Fatal(err)
	}
	return Actor{who, office}
}

func signIn(t testing.TB, b *Book, name, password string, from netip.Addr) string {
	t.Helper()
	secret, who, err := b.SignIn(t.Context(), name, password, from)
	if err != nil || who.Name != name {
		t.Fatalf("sign in: %+v, %v", who, err)
	}
	return secret
}

// expect compares an error.
func expect(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// whats returns what was done, newest first, with its outcome.
func whats(t testing.TB, b *Book) []string {
	t.Helper()
	page, err := b.Audit("", mostEntries)
	must(t, err)
	var all []string
	for _, e := range page.Entries {
		all = append(all, fmt.Sprintf("%s %s: %s", e.What, e.On, e.Outcome))
	}
	return all
}

// childEnv makes the test binary a process of its own that makes tokens in the folder named, NAME-0, NAME-1 and so on,
// and says each when it is made.
const childEnv = "PATHWISE_ACCOUNT_TEST_CHILD"

func TestMain(m *testing.M) {
	if folder := os.Getenv(childEnv); folder != "" {
		makeTokens(folder, os.Args[1], os.Args[2])
		return
	}
	os.Exit(m.Run())
}

func makeTokens(folder, name, count string) {
	b, err := open(folder, Options{}, cheap)
	for n := 0; err == nil && fmt.Sprint(n) != count; n++ {
		var secret string
		if secret, err = b.NewToken(owner, TokenSpec{Name: fmt.Sprintf("%s-%d", name, n), Scopes: []Scope{Read}}); err == nil {
			fmt.Println(secret)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child starts a process that makes tokens, and returns the lines of what it made.
func child(t *testing.T, folder, name, count string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, name, count)
	cmd.Env = append(os.Environ(), childEnv+"="+folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

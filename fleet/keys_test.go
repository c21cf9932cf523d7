package fleet

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestKeyringIsKept(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "keys")
	first, err := OpenKeyring(folder)
	if err != nil {
		t.Fatal(err)
	}
	ucl := issue(t, first, "ucl", Reach{})
	issue(t, first, "ral.example.org", Reach{})
	second, err := OpenKeyring(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Public(), second.Public()); diff != "" {
		t.Errorf("the controller has other keys the second time:\n%s", diff)
	}
	if !bytes.Equal(first.ca.pem, second.ca.pem) {
		t.Error("another certificate authority the second time")
	}
	before := mustAgent(t, second, "ucl")
	if again := issue(t, second, "ucl", Reach{}); again.Login == ucl.Login || mustAgent(t, second, "ucl") == before {
		t.Error("issuing again gave the same keys")
	}
	if err := second.Withdraw("ral.example.org"); err != nil {
		t.Fatal(err)
	}
	all, err := first.Agents()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]AgentKeys{"ucl": mustAgent(t, first, "ucl")}, all); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	err = filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAgentsAreReadAnew has another process deploy and withdraw hosts: whatever was read before, what is on disk counts.
func TestAgentsAreReadAnew(t *testing.T) {
	k := testKeyring(t)
	other, err := OpenKeyring(k.folder)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(k.folder, "agents")
	expect := func(hosts ...string) {
		t.Helper()
		for range 2 {
			agents, err := k.Agents()
			if got := slices.Sorted(maps.Keys(agents)); err != nil || !slices.Equal(got, hosts) {
				t.Errorf("agents %v, %v; want %v", got, err, hosts)
			}
			agents["mine"] = AgentKeys{} // is the caller's
		}
	}
	issue(t, other, "a", Reach{})
	expect("a")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(folder, old, old); err != nil { // as if nothing had changed for long
		t.Fatal(err)
	}
	expect("a")
	if k.at.IsZero() {
		t.Error("the keys would be read again, though nothing changed")
	}
	issue(t, other, "b", Reach{})
	expect("a", "b")
	if err := other.Withdraw("a"); err != nil {
		t.Fatal(err)
	}
	expect("b")
}

func TestCredentialsFile(t *testing.T) {
	k := testKeyring(t)
	want := issue(t, k, "ucl", k.Embedded("10.0.0.1:4222", "[2001:db8::1]:4222"))
	path := filepath.Join(t.TempDir(), "ucl.json")
	if err := want.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCredentials(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-written +read):\n%s", diff)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCredentials(path); !isBadInput(err) || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}

// TestCredentialsOfSystemd has the file as LoadCredential= leaves it: root's, with the bit of a group for its access list.
func TestCredentialsOfSystemd(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has files of root's")
	}
	k := testKeyring(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "credentials")
	if err := issue(t, k, "ucl", k.Embedded("10.0.0.1:4222")).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode   os.FileMode
		owner  int
		folder string
		ok     bool
	}{
		{0o440, 0, folder, true},
		{0o400, 0, folder, true},
		{0o440, 0, "", false},
		{0o440, 0, t.TempDir(), false},
		{0o440, 1, folder, false},
		{0o444, 0, folder, false},
		{0o460, 0, folder, false},
		{0o640, 0, folder, false},
	} {
		t.Setenv("CREDENTIALS_DIRECTORY", c.folder)
		if err := errors.Join(os.Chown(path, c.owner, 0), os.Chmod(path, c.mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCredentials(path); c.ok && err != nil || !c.ok && !isBadInput(err) {
			t.Errorf("mode %#o of user %d, CREDENTIALS_DIRECTORY=%q: %v, want it read: %v", c.mode, c.owner, c.folder, err, c.ok)
		}
	}
}

func isBadInput(err error) bool {
	var bad interface{ BadInput() bool }
	return errors.As(err, &bad) && bad.BadInput()
}

func TestBadInput(t *testing.T) {
	k := testKeyring(t)
	good := *issue(t, k, "ucl", k.Embedded("127.0.0.1:4222"))
	with := func(change func(*Credentials)) *Credentials { c := good; change(&c); return &c }
	link := func(c *Credentials) error { _, err := NewLink(LinkConfig{Credentials: c}); return err }
	outside := func(o Outside) error { return (&HubConfig{Keys: k, Outside: &o}).Validate() }
	server := func(listen string) error {
		return (&ServerConfig{Keys: k, Listen: listen}).Validate()
	}
	reach := func(change func(*SSH)) error {
		s := &SSH{Host: "ucl", Address: "x", User: "u", Keys: []string{"k"}, KnownHosts: []string{"h"}, Leave: true,
			Binaries: map[string]string{"linux/amd64": "b"}, Credentials: &good, Dial: func(context.Context) (net.Conn, error) { return nil, nil }}
		change(s)
		return s.Validate()
	}
	for _, c := range []struct {
		err  error
		want string // "" : it is right
	}{
		{link(&good), ""},
		{link(with(func(c *Credentials) { c.Host = "" })), "host"},
		{link(with(func(c *Credentials) { c.Login = "SU" })), "login_seed"},
		{link(with(func(c *Credentials) { c.Login = c.Sealing })), "login_seed"},
		{link(with(func(c *Credentials) { c.Sealing = "" })), "sealing_seed"},
		{link(with(func(c *Credentials) { c.Controller.Signing = c.Controller.Login })), "controller.signing"},
		{link(with(func(c *Credentials) { c.Controller.Sealing = "" })), "controller.sealing"},
		{link(with(func(c *Credentials) { c.URLs = nil })), "urls"},
		{link(with(func(c *Credentials) { c.CA = "no PEM" })), "ca"},
		{link(nil), "credentials"},
		{outside(Outside{URL: "tls://a:4222,nats://b"}), ""},
		{outside(Outside{}), "url"},
		{outside(Outside{URL: "http://a"}), "http://a"},
		{outside(Outside{URL: "nats://a", Cert: "c"}), "cert and key"},
		{outside(Outside{URL: "nats://a", Credentials: "c", Nkey: "n"}), "credentials and nkey"},
		{(&HubConfig{Keys: k}).Validate(), "one of them"},
		{server("127.0.0.1:4222"), ""},
		{server(""), ""},
		{server("4222"), "listen"},
		{server("a:b"), "listen"},
		{server("a:70000"), "listen"},
		{reach(func(*SSH) {}), ""},
		{reach(func(s *SSH) { s.Address = "" }), "address"},
		{reach(func(s *SSH) { s.User = "" }), "user"},
		{reach(func(s *SSH) { s.Keys = nil }), "keys"},
		{reach(func(s *SSH) { s.KnownHosts = nil }), "known_hosts"},
		{reach(func(s *SSH) { s.Binaries = nil }), "binaries"},
		{reach(func(s *SSH) { s.Folder = "~/x" }), "folder"},
		{reach(func(s *SSH) { s.Leave = false }), "nothing behind"},
	} {
		switch {
		case c.want == "" && c.err != nil:
			t.Errorf("refused what is right: %v", c.err)
		case c.want != "" && (!isBadInput(c.err) || !strings.Contains(c.err.Error(), c.want)):
			t.Errorf("%v: want bad input that names %q", c.err, c.want)
		}
		if c.err != nil && (strings.Contains(c.err.Error(), good.Login) || strings.Contains(c.err.Error(), good.Sealing)) {
			t.Error("a seed is in an error")
		}
	}
}

package main

import (
	"bytes"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
)

// The first link leads to where the listener is reached, or below the address of a proxy before it.
func TestFirstLink(t *testing.T) {
	book, err := account.Open(t.TempDir(), account.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	for want, proxies := range map[string][]netip.Prefix{
		"opens this within a day sets it, once:\n  http://127.0.0.1:8080/#/welcome?token=":      nil,
		"opens this below the proxy's address within a day sets it, once:\n  /#/welcome?token=": {netip.MustParsePrefix("127.0.0.1/32")},
	} {
		var said bytes.Buffer
		if err := (&session{err: &said}).inviteFirst(book, pageURL("http", at, proxies)); err != nil || !strings.Contains(said.String(), want) {
			t.Errorf("%v, %s", err, &said)
		}
	}
}

// Where others can read what is typed, serve says how one signs in all the same: to the address that is listened on.
func TestSayHowToSignIn(t *testing.T) {
	for listen, tunnel := range map[string]string{
		"0.0.0.0:8080": "ssh -L 8080:127.0.0.1:8080 ", "[::]:8081": "ssh -L 8081:127.0.0.1:8081 ",
		"192.0.2.5:8080": "ssh -L 8080:192.0.2.5:8080 ", "[2001:db8::5]:8080": "ssh -L 8080:[2001:db8::5]:8080 ",
	} {
		at := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listen))
		var said bytes.Buffer
		page := (&session{err: &said}).sayHowToSignIn(at)
		for _, want := range []string{tunnel, page.String(), "controller.tls", "controller.proxies"} {
			if !strings.Contains(said.String(), want) || page.Hostname() != "127.0.0.1" {
				t.Errorf("listening on %s: want %q in:\n%s", listen, want, &said)
			}
		}
	}
}

// What is to be kept forever is so for the archive, too, and what the mesh file says nothing of is left to it.
func TestRetention(t *testing.T) {
	m, err := config.Parse([]config.File{{Name: "mesh.yaml", Text: []byte(
		"hosts: {a: 192.0.2.1}\ncontroller: {retention: {results: forever, rollups: {1m: 1y, 1d: forever}}}\n")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []archive.Rule{{Results: archive.Forever, Samples: archive.Forever,
		Rollups: [len(archive.Levels)]time.Duration{365 * 24 * time.Hour, 0, 0, archive.Forever}}}
	if diff := cmp.Diff(want, retention(m.Controller.Retention)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package main

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// A controller looks up in the files of its mesh file, and says which of them it cannot read.
func TestServeLookup(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	names := write("dns", "192.0.2.1 core1.example.net\n") // a file of that name is one, too
	owners := write("owners", "inetnum: 192.0.2.0/24\ndescr: Example University\ncountry: CH\n")
	asn := filepath.Join("..", "..", "lookup", "testdata", "Test-ASN.mmdb")
	l, err := openLookup(config.Lookup{Names: names, ASN: asn, Owners: owners})
	if err != nil {
		t.Fatal(err)
	}
	want := []measure.AddressInfo{
		{Address: "192.0.2.1", Name: "core1.example.net", Owner: "Example University", Country: "CH"},
		{Address: "10.0.0.1", ASN: 64500, ASName: "EXAMPLE", Prefix: "10.0.0.0/16"},
	}
	got := l.find(t.Context(), []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("10.0.0.1")})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if name := l.listed(netip.MustParseAddr("::ffff:192.0.2.1")); name != "core1.example.net" || l.listed(netip.MustParseAddr("192.0.2.2")) != "" {
		t.Errorf("the file lists %q", name)
	}
	if l, err := openLookup(config.Lookup{}); l != nil || err != nil {
		t.Errorf("without a word of it: %v, %v", l, err)
	}
	missing := filepath.Join(folder, "missing")
	for field, c := range map[string]config.Lookup{"names": {Names: missing}, "asn": {ASN: missing}, "owners": {Owners: missing}, "places": {Places: missing}} {
		_, err := openLookup(c)
		if want := "controller.lookup." + field + ": open " + missing + ": no such file or directory"; err == nil || err.Error() != want || !input.Bad(err) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A controller that cannot read what its mesh file names begins nothing.
func TestServeLookupIsReadFirst(t *testing.T) {
	folder := t.TempDir()
	file, data := filepath.Join(folder, "mesh.yaml"), filepath.Join(folder, "data")
	text := "hosts: {a: {address: 127.0.0.1}}\ncontroller: {lookup: {owners: " + filepath.Join(folder, "missing") + "}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := refused(t, "serve", file, "--data", data); !strings.HasPrefix(got, "controller.lookup.owners: open ") {
		t.Errorf("it says %q", got)
	}
	if begun, err := os.ReadDir(data); err != nil || len(begun) != 0 {
		t.Errorf("it left %v, %v", begun, err)
	}
}

// What was asked for a page that was left meanwhile is there for the next one.
func TestServeLookupIsLeft(t *testing.T) {
	t.Parallel()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	l, err := openLookup(config.Lookup{ASN: "dns:asn.example", NameServer: server.LocalAddr().String()})
	if err != nil {
		t.Fatal(err)
	}
	address := []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	page, leave := context.WithCancel(t.Context())
	leave()
	l.find(page, address)
	_ = server.SetReadDeadline(time.Now().Add(10 * time.Second))
	question := make([]byte, 1500)
	n, from, err := server.ReadFrom(question)
	if err != nil {
		t.Fatal(err)
	}
	question[2], question[3] = 0x84, 3 // no such name (RFC 1035, section 4.1.1)
	if _, err := server.WriteTo(question[:n], from); err != nil {
		t.Fatal(err)
	}
	if _, unanswered := l.cache.All(t.Context(), address); unanswered != 0 {
		t.Error("the answer was taken away by who left")
	}
}

// What servers said is asked for again after some hours, and not before because one of them does not answer.
func TestServeLookupForgets(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	l, err := openLookup(config.Lookup{ASN: "dns:asn.example", NameServer: silent.LocalAddr().String()})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	first := l.remembered(now)
	if first.Most != mostKnown {
		t.Errorf("servers are asked of %d addresses", first.Most)
	}
	if l.remembered(now.Add(knownHolds)) != first || l.remembered(now.Add(knownHolds+2)) == first {
		t.Error("what servers said is kept for another time than it holds")
	}
	l.cache, l.until = nil, time.Time{}
	if known := l.find(t.Context(), []netip.Addr{netip.MustParseAddr("192.0.2.1")}); known != nil {
		t.Errorf("known: %+v", known)
	}
	if asked := l.cache; l.remembered(time.Now().Add(knownHolds-time.Minute)) != asked {
		t.Error("where a server is silent, what others said is forgotten")
	}
}

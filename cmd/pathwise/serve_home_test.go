package main

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/web/edit"
)

// hostsOf are the hosts of a mesh with their addresses, and its tests.
func hostsOf(t *testing.T, h *home) string {
	t.Helper()
	m, err := config.Load(h.mesh(), probe.Catalogue{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, host := range m.Hosts {
		all = append(all, host.Name+" "+host.Interfaces[0].Addresses[0])
	}
	for _, test := range m.Tests {
		all = append(all, test.Name)
	}
	return strings.Join(all, ", ")
}

// A mesh of this host is made once, follows the machine until somebody edits it, and is left as it is then.
func TestHome(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "home")
	four := netip.MustParseAddr
	here := machine{"carol", four("192.0.2.9"), four("192.0.2.1")}
	open := func(here machine, reach string) (*home, []string) {
		t.Helper()
		at, err := parseReach(reach)
		if err != nil {
			t.Fatal(err)
		}
		h, news, err := openHome(folder, here, at)
		if err != nil {
			t.Fatal(err)
		}
		return h, news
	}
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
	const tests = ", rtt@everybody, load@carol-itself"
	h, _ := open(here, "")
	expect("the first time", hostsOf(t, h), "carol 192.0.2.9, gateway 192.0.2.1"+tests)
	if first := h.state; !first.Reach.Addr().IsLoopback() || !strings.HasPrefix(first.Listen, "127.0.0.1:") {
		t.Errorf("others reach it though nobody said so: %+v", first)
	} else if again, news := open(here, ""); cmp.Diff(first.Written, again.state.Written) != "" || again.state.Listen != first.Listen || news != nil {
		t.Errorf("the second time: %+v, %v", again.state, news)
	}
	h, _ = open(machine{"renamed", four("192.0.2.10"), four("192.0.2.2")}, "")
	expect("another network", hostsOf(t, h), "carol 192.0.2.10, gateway 192.0.2.2"+tests)
	h, _ = open(machine{"carol", four("127.0.0.1"), netip.Addr{}}, "")
	expect("off its network", hostsOf(t, h), "carol 192.0.2.10, gateway 192.0.2.2"+tests)
	open(here, "127.0.0.1:4333")
	h, _ = open(here, "")
	expect("what was said of --reach", h.state.Reach.String(), "127.0.0.1:4333")
	h, _ = open(here, "127.0.0.1")
	expect("the port stays where none is said", h.state.Reach.String(), "127.0.0.1:4333")

	edited := filepath.Join(h.mesh(), hereFile)
	text, err := os.ReadFile(edited)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, edited, strings.ReplaceAll(string(text), "192.0.2.9", "198.51.100.1"))
	if _, news := open(here, ""); news != nil {
		t.Errorf("an edited file, and a machine as before: %q", news)
	}
	h, news := open(machine{"carol", four("192.0.2.77"), four("192.0.2.1")}, "")
	expect("edited", hostsOf(t, h), "carol 198.51.100.1, gateway 192.0.2.1"+tests)
	if len(news) != 1 || !strings.Contains(news[0], "here.yaml was edited, so it stays; this machine's address is 192.0.2.77 now") {
		t.Errorf("edited, and the machine changed: %q", news)
	}
	writeText(t, filepath.Join(h.mesh(), controllerFile), "controller: {listen: \"127.0.0.1:8081\"}\n")
	if _, _, err := openHome(folder, here, netip.MustParseAddrPort("127.0.0.1:4444")); err == nil || !strings.Contains(err.Error(), "--reach: ") {
		t.Errorf("--reach over an edited file: %v", err)
	}
	if err := os.Remove(filepath.Join(h.mesh(), everybodyFile)); err != nil {
		t.Fatal(err)
	}
	h, _ = open(here, "")
	expect("a file that somebody took away", hostsOf(t, h), "carol 198.51.100.1, gateway 192.0.2.1, load@carol-itself")
}

// A folder that is somebody's controller's, or cannot be read, is left alone.
func TestHomeOfAnother(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if got := refused(t, "serve", "--data", folder); !strings.Contains(got, "it is the folder of a controller with a mesh file") {
		t.Errorf("a controller's folder: %q", got)
	}
	writeText(t, filepath.Join(folder, "home.json"), "{")
	if got := refused(t, "serve", "--data", folder); !strings.Contains(got, "home.json: it cannot be read") {
		t.Errorf("a spoilt state: %q", got)
	}
	for _, reach := range []string{"0.0.0.0", "[::]:4222", "carol", "192.0.2.5:port", "224.0.0.1"} {
		if got := refused(t, "serve", "--data", t.TempDir(), "--reach", reach); !strings.HasPrefix(got, "--reach: ") || !strings.Contains(got, "192.0.2.5:4222") {
			t.Errorf("--reach %s: %q", reach, got)
		}
	}
}

// A host that joins takes nobody's name, is measured by the tests that there are, and far away pings no gateway that is not its own.
func TestJoinedFiles(t *testing.T) {
	alone := machine{name: "carol", address: netip.MustParseAddr("192.0.2.9")}
	nearby := machine{"carol", alone.address, netip.MustParseAddr("192.0.2.1")}
	for _, test := range []struct {
		here  machine
		name  string
		from  string
		want  string
		pairs int // of the pings
	}{
		{nearby, "dave", "192.0.2.7", "dave", 4},
		{nearby, "dave", "198.51.100.7", "dave", 3},
		{nearby, "carol", "192.0.2.7", "carol-2", 4},
		{nearby, "gateway", "192.0.2.7", "gateway-2", 4},
		{alone, strings.Repeat("d", 63), "2001:db8::7", strings.Repeat("d", 56), 0},
	} {
		h, _, err := openHome(filepath.Join(t.TempDir(), "home"), test.here, netip.AddrPort{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := config.Load(h.mesh(), probe.Catalogue{})
		if err != nil {
			t.Fatal(err)
		}
		var files []edit.File
		for name := range h.state.Written {
			text, err := os.ReadFile(filepath.Join(h.mesh(), name))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, edit.File{Name: name, Text: string(text)})
		}
		name, files := joined(m, files, fleet.Applicant{Name: test.name, Address: netip.MustParseAddr(test.from), By: "ann"}, test.here.address)
		for _, f := range files {
			writeText(t, filepath.Join(h.mesh(), f.Name), f.Text)
		}
		_, err = config.Load(h.mesh(), probe.Catalogue{})
		if err != nil || name != test.want {
			t.Errorf("%s from %s joins as %s: %v", test.name, test.from, name, err)
			continue
		}
		status, out, complaint := pathwise(t, "mesh", "check", h.mesh(), "--json")
		var doc struct {
			Tests []struct {
				Name  string
				Pairs int
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || status != exitDone {
			t.Fatalf("%v: %s", err, complaint)
		}
		for _, c := range doc.Tests {
			if c.Name == "rtt@everybody" && c.Pairs != test.pairs {
				t.Errorf("%s from %s: %d pairs ping, want %d", test.name, test.from, c.Pairs, test.pairs)
			}
		}
	}
}

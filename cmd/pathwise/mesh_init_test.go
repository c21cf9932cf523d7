package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/probe"
)

// What `mesh init` writes is a mesh without errors, whatever the machine is like; and so is it when its comments are taken up.
func TestFirstMeshIsValid(t *testing.T) {
	four, six := netip.MustParseAddr("192.0.2.9"), netip.MustParseAddr("2001:db8::9")
	for _, test := range []struct {
		machine          string
		address, gateway netip.Addr
		root             bool
		hosts            int
	}{
		{"carol.example.org", four, netip.MustParseAddr("192.0.2.1"), true, 2},
		{"carol", six, netip.MustParseAddr("2001:db8::1"), false, 2},
		{"", four, netip.Addr{}, false, 1},
		{"all", four, netip.MustParseAddr("192.0.2.1"), false, 2},
		{"gateway", four, netip.MustParseAddr("192.0.2.1"), false, 2},
		{"größe_-x y", four, netip.Addr{}, true, 1},
	} {
		text := firstMesh(hostName(test.machine), test.address, test.gateway, test.root)
		for more, text := range []string{text, strings.NewReplacer("# second:", "second:", "# bulk:", "bulk:", "# everybody:", "everybody:", "# - {", "- {").Replace(text)} {
			file := filepath.Join(t.TempDir(), "mesh.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := config.Load(file, probe.Catalogue{})
			if err != nil || len(m.Hosts) != test.hosts+more {
				t.Errorf("%q: %v\n%s", test.machine, err, text)
			}
		}
	}
}

// `mesh init` writes once; serve takes the file that is named, then mesh.yaml if that is there, and writes none here.
func TestMeshInitAndServeWithoutFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, want := range []string{"other.yaml", ""} {
		if file, err := fileToServe(strings.Fields(want)); file != want || err != nil {
			t.Errorf("%q is to be served: %q, %v", want, file, err)
		}
	}
	var stdout, stderr strings.Builder
	if status := run([]string{"mesh", "init"}, nil, &stdout, &stderr); status != exitDone || stdout.String() != "mesh.yaml\n" {
		t.Errorf("exit status %d, %q, %q", status, stdout.String(), stderr.String())
	}
	refused(t, "mesh", "init")
	if file, err := fileToServe(nil); file != "mesh.yaml" || err != nil {
		t.Errorf("mesh.yaml is there: %q, %v", file, err)
	}
	if got := refused(t, "serve", "--reach", "127.0.0.1"); !strings.Contains(got, "mesh.yaml says it as controller: {nats: {listen: ...}}") {
		t.Errorf("--reach with a mesh file: %q", got)
	}
}

// A mesh file of another user, which says what programs run, is served only by its name.
func TestServeRefusesFileOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root, who alone may give files away")
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile(meshFile, []byte("hosts: {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(meshFile, 65534, 65534); err != nil {
		t.Skip("this root may not give files away: ", err)
	}
	if got := refused(t, "serve"); !strings.HasPrefix(got, "mesh.yaml: it belongs to another user") {
		t.Errorf("somebody else's file: %q", got)
	}
	if file, err := fileToServe([]string{meshFile}); file != meshFile || err != nil {
		t.Errorf("somebody else's file, named: %s, %v", file, err)
	}
}

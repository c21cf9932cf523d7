package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// TestDeployForOutsideCluster has what `mesh deploy` writes for the servers of a cluster be read by such a server, with a user
// for the controller and for each host.
func TestDeployForOutsideCluster(t *testing.T) {
	dir := t.TempDir()
	mesh := filepath.Join(dir, "mesh.yaml")
	text := "controller: {data: " + dir + "/data, nats: {url: \"nats://192.0.2.9:4222\"}}\n" +
		"hosts: {a: 192.0.2.1, b: 192.0.2.2}\ntools: {rtt: {probe: ping}}\ngroups: {all: {mesh: all}}\n" +
		"tests: [{tool: rtt, group: all, schedule: {every: 1m}}]\n"
	if err := os.WriteFile(mesh, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	if status := run([]string{"mesh", "deploy", mesh, "--out", dir}, nil, &out, &said); status != exitDone {
		t.Fatalf("status %d: %s", status, said.String())
	}
	if !strings.Contains(said.String(), "nats.conf") {
		t.Errorf("nobody is told of nats.conf: %s", said.String())
	}
	options, err := server.ProcessConfigFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(options.Nkeys) != 3 {
		t.Errorf("%d users, want the controller and two hosts", len(options.Nkeys))
	}
	for _, u := range options.Nkeys {
		if u.Permissions == nil || u.Permissions.Publish == nil || len(u.Permissions.Publish.Allow) == 0 {
			t.Errorf("user %s may publish anything", u.Nkey)
		}
	}
}

// TestUnitMayWriteItsMesh: the service that is shipped has its mesh file in the folder that systemd gives it, or the page
// Configuration could save nothing.
func TestUnitMayWriteItsMesh(t *testing.T) {
	unit, err := os.ReadFile("../../deploy/systemd/pathwise.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nStateDirectory=pathwise\n", " serve %S/pathwise/mesh.yaml --data %S/pathwise\n"} {
		if !strings.Contains(string(unit), want) {
			t.Errorf("pathwise.service has no %q", want)
		}
	}
}

// TestUnitsAreValid: systemd says nothing of a setting that it does not know, when a service starts: it ignores it.
func TestUnitsAreValid(t *testing.T) {
	installed(t, "systemd-analyze")
	units, err := filepath.Glob("../../deploy/systemd/*.service")
	if err != nil || len(units) != 2 {
		t.Fatalf("%v, %v", units, err)
	}
	folder := t.TempDir()
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		installed := strings.ReplaceAll(string(text), "/usr/local/bin/pathwise", "/bin/true")
		path := filepath.Join(folder, filepath.Base(unit))
		if err := os.WriteFile(path, []byte(installed), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command("systemd-analyze", "verify", path).CombinedOutput()
		if about := aboutUnit(string(said), filepath.Base(unit)); err != nil || about != "" {
			t.Errorf("%s: %v: %s", filepath.Base(unit), err, about)
		}
	}
}

// aboutUnit is what systemd-analyze says of one unit: it reads those that this machine has installed, too, and speaks of them.
func aboutUnit(said, unit string) (about string) {
	for line := range strings.Lines(said) {
		if strings.Contains(line, unit) {
			about += line
		}
	}
	return about
}

func TestAboutUnit(t *testing.T) {
	const said = "/lib/systemd/system/other.service:7: Unknown key name 'X' in section 'Service', ignoring.\n" +
		"/tmp/1/pathwise.service:9: Unknown key name 'Y' in section 'Service', ignoring.\n"
	if got := aboutUnit(said, "pathwise.service"); !strings.HasPrefix(got, "/tmp/1/") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}

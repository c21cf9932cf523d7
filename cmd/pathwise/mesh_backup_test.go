package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A controller is backed up while it runs, lost with its machine, and restored into an empty folder: the same agent, which was
// not deployed again and runs all the time, reports to it and files to it, and what was filed, the accounts and the mesh file
// are there.
func TestRestoredControllerGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	writeText(t, path("mesh.yaml"), fmt.Sprintf(`
controller:
  listen: %s
  nats: {listen: %s}
hosts: {a: 127.0.0.2}
tools: {load: {probe: host}}
groups: {own: {list: [a]}}
tests: [{tool: load, group: own, schedule: {every: 2s}}]
`, freeAddress(t), freeAddress(t)))
	writeText(t, path("passphrase"), "correct horse battery staple\nnot this\n")
	writeText(t, path("wrong"), "another\n")
	must := func(args ...string) string {
		t.Helper()
		status, out, complaint := pathwise(t, args...)
		if status != exitDone {
			t.Fatalf("%v: exit status %d: %s", args, status, complaint)
		}
		return out
	}
	must("mesh", "deploy", path("mesh.yaml"), "--data", path("data"), "--out", dir, "--address", "127.0.0.1")
	end := begin(t, "serve", path("mesh.yaml"), "--data", path("data"))
	begin(t, "agent", "--credentials", path("a.credentials"), "--state", path("state"))
	must("mesh", "token", "scripts", "--data", path("data"))
	until := func(what string, from, to time.Time) {
		t.Helper()
		for late := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			_, filed, _ := pathwise(t, "mesh", "export", "--data", path("data"), "--format", "csv",
				"--from", from.UTC().Format(time.RFC3339), "--to", to.UTC().Format(time.RFC3339))
			if strings.Contains(filed, "host_memory_available_bytes") {
				return
			}
			if time.Now().After(late) {
				t.Fatalf("%s: no result in a minute: %s", what, filed)
			}
		}
	}
	before := time.Now().Add(-time.Hour)
	until("before", before, time.Now().Add(time.Hour))
	must("mesh", "backup", path("plain"), "--data", path("data"))
	must("mesh", "backup", path("sealed"), "--data", path("data"), "--passphrase-file", path("passphrase"))
	end()
	lost := time.Now()
	if err := os.Rename(path("data"), path("lost")); err != nil {
		t.Fatal(err)
	}

	sealed, err := os.ReadFile(path("sealed"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"controller.json", "login_seed", "groups: {own"} {
		if bytes.Contains(sealed, []byte(secret)) {
			t.Errorf("the encrypted backup shows %q", secret)
		}
	}
	for _, call := range [][]string{
		{path("sealed"), "--data", path("data")},
		{path("sealed"), "--data", path("data"), "--passphrase-file", path("wrong")},
		{path("mesh.yaml"), "--data", path("data")},
		{path("plain"), "--data", path("lost")},
		{path("plain")},
	} {
		if status, _, complaint := pathwise(t, append([]string{"mesh", "restore"}, call...)...); status != exitBadCall {
			t.Errorf("restore %v: exit status %d: %s", call, status, complaint)
		}
	}
	must("mesh", "restore", path("plain"), path("alone.sqlite"))
	must("mesh", "restore", path("sealed"), "--data", path("data"), "--passphrase-file", path("passphrase"))
	if err := os.Remove(path("mesh.yaml")); err != nil {
		t.Fatal(err)
	}

	restored := time.Now()
	begin(t, "serve", path("data/mesh.yaml"), "--data", path("data"))
	until("what was filed before", before, lost)
	until("what is measured after", restored, restored.Add(time.Hour))
	if names := must("mesh", "token", "--data", path("data")); strings.TrimSpace(names) != "scripts" {
		t.Errorf("tokens %q", names)
	}
}

// Names in a backup that lead elsewhere, and parts that there are not, are refused.
func TestRestoreRefusesForeignNames(t *testing.T) {
	for _, name := range []string{"data/../../x", "data//etc/x", "mesh/../x", "data/", "/etc/x", "else"} {
		dir := t.TempDir()
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		text := `{"schema": "` + backupSchema + `"}`
		for file, content := range map[string]string{backupManifest: text} {
			if err := w.WriteHeader(&tar.Header{Name: file, Mode: 0o600, Size: int64(len(content))}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		writeText(t, filepath.Join(dir, "backup"), b.String())
		status, _, complaint := pathwise(t, "mesh", "restore", filepath.Join(dir, "backup"), "--data", filepath.Join(dir, "data"))
		if status == exitDone || !strings.Contains(complaint, "leads out") && !strings.Contains(complaint, "no such part") {
			t.Errorf("%s: exit status %d: %s", name, status, complaint)
		}
	}
}

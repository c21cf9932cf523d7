package main

import (
	"archive/tar"
	"bytes"
	"errors"
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
		for late := time.Now().Add(time.Minute); ; time.Sleep(500 * time.Millisecond) { // an export takes the processor
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

// foreignBackup writes a backup with a manifest and one empty part, in a new folder.
func foreignBackup(t *testing.T, manifest, name string, size int64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: backupManifest, Mode: 0o600, Size: int64(len(manifest))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(manifest)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if size > 0 {
		head := b.Bytes()[b.Len()-3*512 : b.Len()-2*512] // before the two empty blocks at the end
		sparse(head, size)
	}
	writeText(t, filepath.Join(dir, "backup"), b.String())
	return dir
}

// sparse makes the header of an empty file one of a file that is a single hole, in GNU's format.
func sparse(head []byte, size int64) {
	head[156] = 'S'
	copy(head[483:495], fmt.Sprintf("%011o\x00", size))
	copy(head[148:156], "        ")
	sum := 0
	for _, c := range head {
		sum += int(c)
	}
	copy(head[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

// Names in a backup that lead elsewhere, and parts that there are not, are refused.
func TestRestoreRefusesForeignNames(t *testing.T) {
	for _, name := range []string{"data/../../x", "data//etc/x", "mesh/../x", "data/", "/etc/x", "else"} {
		dir := foreignBackup(t, `{"schema": "`+backupSchema+`"}`, name, 0)
		status, _, complaint := pathwise(t, "mesh", "restore", filepath.Join(dir, "backup"), "--data", filepath.Join(dir, "data"))
		if status == exitDone || !strings.Contains(complaint, "leads out") && !strings.Contains(complaint, "no such part") {
			t.Errorf("%s: exit status %d: %s", name, status, complaint)
		}
	}
}

// A part with holes could fill the disk: it is refused before it is written.
func TestRestoreRefusesHoles(t *testing.T) {
	for _, name := range []string{"data/keys", backupArchive} {
		dir := foreignBackup(t, `{"schema": "`+backupSchema+`"}`, name, 64<<20)
		status, _, complaint := pathwise(t, "mesh", "restore", filepath.Join(dir, "backup"), "--data", filepath.Join(dir, "data"))
		if status != exitBadCall || !strings.Contains(complaint, `"`+name+`": it has holes`) {
			t.Errorf("%s: exit status %d: %s", name, status, complaint)
		}
	}
	if err := refuseHoles(&tar.Header{Typeflag: tar.TypeReg, PAXRecords: map[string]string{"GNU.sparse.major": "1"}}); err == nil {
		t.Error("holes in the form of PAX are not refused")
	}
}

// A backup may come through a pipe, of which nobody knows how long it is.
func TestRestoreFromPipe(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := tar.NewWriter(in) // all of it fits into the pipe's buffer
	for _, part := range [][2]string{{backupManifest, `{"schema": "` + backupSchema + `"}`}, {"data/keys", "a key"}} {
		if err := w.WriteHeader(&tar.Header{Name: part[0], Mode: 0o600, Size: int64(len(part[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(part[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), in.Close()); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	status, _, complaint := pathwise(t, "mesh", "restore", fmt.Sprintf("/dev/fd/%d", out.Fd()), "--data", data)
	if status == exitDone || !strings.Contains(complaint, "it has no archive") {
		t.Errorf("exit status %d: %s", status, complaint)
	}
	if text, err := os.ReadFile(filepath.Join(data, "keys")); string(text) != "a key" {
		t.Errorf("keys: %q, %v", text, err)
	}
}

// Where an archive goes is for the call to say, and not for a backup, unless it is within the folder that the call names.
func TestRestoreKeepsToItsPlaces(t *testing.T) {
	const whole = "it has no archive" // so far it gets with a place that is allowed
	for _, c := range []struct {
		was   string // "DATA": the folder of --data
		named bool
		want  string
	}{
		{"", false, whole},
		{"", true, "leave ARCHIVE out"},
		{"DATA/other.sqlite", false, whole},
		{"DATA/../other.sqlite", false, "other.sqlite\", which is not in the folder of --data: name ARCHIVE"},
		{"DATA", false, "which is not in the folder of --data"},
		{"/nowhere/archive.sqlite", false, "which is not in the folder of --data"},
		{"/nowhere/archive.sqlite", true, whole},
		{"postgres://pathwise:secret@db.example.org/x", false, `"postgres://pathwise:xxxxx@db.example.org/x", which is not in the folder of --data`},
		{"postgres://pathwise:secret@db.example.org/x", true, whole},
	} {
		parent := t.TempDir()
		data := filepath.Join(parent, "data")
		was := strings.Replace(c.was, "DATA", data, 1)
		dir := foreignBackup(t, fmt.Sprintf(`{"schema": %q, "archive": %q}`, backupSchema, was), "data/x", 0)
		call := []string{"mesh", "restore", filepath.Join(dir, "backup"), "--data", data}
		if c.named {
			call = append(call, filepath.Join(dir, "named.sqlite"))
		}
		if status, _, complaint := pathwise(t, call...); status == exitDone || !strings.Contains(complaint, c.want) {
			t.Errorf("%+v: exit status %d: %s", c, status, complaint)
		}
	}
}

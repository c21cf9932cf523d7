package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pathwise-net/pathwise/archive"
)

// TestRootLeavesFolderToController: what root's commands make in the folder of a controller that is a user of its own, as under
// systemd, the controller can read.
func TestRootLeavesFolderToController(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: what is made belongs to who makes it")
	}
	const nobody = 65534
	data, own := filepath.Join(t.TempDir(), "data"), t.TempDir()
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(data, nobody, nobody); err != nil {
		t.Skip("this root may not give files away: ", err)
	}
	mesh, backup := filepath.Join(own, "mesh.yaml"), filepath.Join(own, "backup")
	if err := os.WriteFile(mesh, []byte("hosts: {a: 192.0.2.1, b: 192.0.2.2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty, err := archive.Open(t.Context(), filepath.Join(own, "archive.sqlite"), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := empty.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"mesh", "deploy", mesh, "--data", data, "--out", own, "--address", "192.0.2.9"},
		{"mesh", "account", "alice", "--role", "admin", "--data", data},
		{"mesh", "token", "alice", "--data", data},
		{"mesh", "restore", backup, filepath.Join(data, "archive.sqlite")},
	} {
		if status, _, complaint := pathwise(t, args...); status != exitDone {
			t.Fatalf("%v: exit status %d: %s", args, status, complaint)
		}
	}
	files := 0
	err = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if s := info.Sys().(*syscall.Stat_t); s.Uid != nobody || s.Gid != nobody || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, of %d:%d", path, info.Mode(), s.Uid, s.Gid)
		}
		return nil
	})
	if err != nil || files < 15 {
		t.Errorf("%d files and folders: %v", files, err)
	}
	made, err := os.Stat(filepath.Join(own, "a.credentials"))
	if err != nil {
		t.Fatal(err)
	}
	if s := made.Sys().(*syscall.Stat_t); s.Uid != 0 {
		t.Errorf("credentials in root's folder belong to %d", s.Uid)
	}
}

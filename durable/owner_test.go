package durable_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pathwise-net/pathwise/durable"
)

const nobody = 65534

// nobodysFolder is one that belongs to another than the test's root.
func nobodysFolder(t *testing.T) string {
	if os.Geteuid() != 0 {
		t.Skip("not root: what is made belongs to who makes it")
	}
	folder := t.TempDir()
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Skip("this root may not give files away: ", err)
	}
	return folder
}

func TestOwnerGetsWhatRootMakes(t *testing.T) {
	folder := nobodysFolder(t)
	path := func(name string) string { return filepath.Join(folder, name) }
	owner, err := durable.OwnerOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Mkdir(path("folder")); err != nil {
		t.Fatal(err)
	}
	if err := owner.Write(path("folder/written"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	file, err := owner.Open(path("opened"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, name := range []string{"folder", "folder/written", "opened"} {
		info, err := os.Stat(path(name))
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != nobody || s.Gid != nobody || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, of %d:%d", name, info.Mode(), s.Uid, s.Gid)
		}
	}
}

// Whoever owns a folder can lay links in it. Root, who works there, must not follow them.
func TestRootFollowsNoLink(t *testing.T) {
	folder := nobodysFolder(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("root's"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".written.new", "opened"} {
		if err := os.Symlink(outside, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	owner, err := durable.OwnerOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Write(filepath.Join(folder, "written"), []byte("x")); err != nil {
		t.Error(err)
	}
	if file, err := owner.Open(filepath.Join(folder, "opened"), 0); err == nil {
		file.Close()
		t.Error("a link was opened")
	}
	expect(t, outside, "root's")
	if got, err := os.ReadFile(filepath.Join(folder, "written")); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	info, err := os.Stat(outside)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 0 {
		t.Errorf("what the link leads to belongs to %d", s.Uid)
	}
}

package secret

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// A secret is read by its name, or its absolute path within the folder, also through a link that stays there; whatever else is
// refused, with the folder in which it belongs.
func TestSecretsLieInOneFolder(t *testing.T) {
	data := t.TempDir()
	f := In(data)
	in := func(name string) string { return filepath.Join(string(f), name) }
	write(t, in("password"), "hunter2\r\n")
	write(t, in("sub/password"), "below")
	write(t, filepath.Join(data, "keys"), "of the controller")
	write(t, in("long"), strings.Repeat("x", longest+1))
	for name, to := range map[string]string{"inside": "password", "outside": "../keys", "absolute": "/etc/hostname", "itself": in("password")} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"password": "hunter2", in("password"): "hunter2", "inside": "hunter2", in("../secrets/password"): "hunter2",
		"": "", ".": "", "..": "", "../keys": "", "sub/password": "", in("sub/password"): "", `sub\password`: "", "password\x00": "",
		filepath.Join(data, "keys"): "", "/etc/hostname": "", in("../keys"): "", "outside": "", "absolute": "", "itself": "",
		"sub": "", "pipe": "", "none": "", string(f): "",
	} {
		text, err := f.Read(name)
		path, pathErr := f.Path(name)
		var misplaced, pathMisplaced *Misplaced
		switch {
		case want != "" && (err != nil || pathErr != nil || text != want || filepath.Dir(path) != string(f) || f.Check(name) != nil):
			t.Errorf("%q: %q at %q; %v, %v", name, text, path, err, pathErr)
		case want == "" && (!errors.As(err, &misplaced) || !errors.As(pathErr, &pathMisplaced) || !strings.Contains(err.Error(), string(f)+": put it there")):
			t.Errorf("%q is read as %q at %q; %v, %v", name, text, path, err, pathErr)
		}
	}
	if _, err := f.Read("long"); err == nil {
		t.Error("what is too long for a secret is read")
	}
	if _, err := In(filepath.Join(data, "none")).Read("password"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the folder: %v", err)
	}
}

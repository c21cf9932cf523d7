package account

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRootGivesToTheOwner has root make a token in the folder of a controller that runs as another user.
func TestRootGivesToTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: what is made belongs to who makes it")
	}
	const nobody = 65534
	folder := t.TempDir()
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Skip("this root may not give files away: ", err)
	}
	b := openBook(t, folder, newClock())
	newPerson(t, b, "ann", Viewer)
	signIn(t, b, "ann", phrase, office)
	files := 0
	must(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		files++
		if s := info.Sys().(*syscall.Stat_t); s.Uid != nobody || s.Gid != nobody {
			t.Errorf("%s belongs to %d:%d", path, s.Uid, s.Gid)
		}
		return nil
	}))
	if files != 8 { // three folders, two locks, accounts, sessions, log
		t.Errorf("%d files and folders, want 8", files)
	}
	must(t, os.Remove(b.audit.path(1)))
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, nil, 0o600))
	must(t, os.Symlink(outside, b.audit.path(1)))
	if err := b.Note(Entry{What: "start test"}); err == nil {
		t.Error("root wrote where another's link leads")
	}
}

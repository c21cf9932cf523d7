package archive_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// SQLite takes some settings only while the file is empty, and says nothing when it is too late.
func TestSQLiteSettings(t *testing.T) {
	path := t.TempDir() + "/archive.db"
	closeIt(t, open(t, path))
	for pragma, want := range map[string]string{"page_size": "8192", "auto_vacuum": "2", "journal_mode": "wal"} {
		var got string
		if err := database(t, path).QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, error %v; want %s", pragma, got, err, want)
		}
	}
}

// What SQLite keeps beside the file is the folder's owner's as well, though root began it.
func TestSQLiteIsTheFoldersOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: what is made belongs to who makes it")
	}
	const nobody = 65534
	folder := t.TempDir()
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Skip("this root may not give files away: ", err)
	}
	defer closeIt(t, open(t, filepath.Join(folder, "archive.sqlite")))
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 4 { // the file, -wal, -shm, -lock
		t.Errorf("%v, %v", files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != nobody || s.Gid != nobody {
			t.Errorf("%s belongs to %d:%d", f.Name(), s.Uid, s.Gid)
		}
	}
}

package archive_test

import "testing"

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

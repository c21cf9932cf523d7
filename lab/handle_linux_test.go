package lab

import (
	"os"
	"path/filepath"
	"testing"
)

// A setting may name a file, by its whole path, for the link or for a rule.
func TestSetReadsFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cell.trace")
	if err := os.WriteFile(file, []byte("1\n5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := start(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b]}]", Options{})
	for _, setting := range []string{"trace=" + file, "forward.jitter={table_file: " + file + "}", "rules=[{trace: " + file + "}]"} {
		if err := l.Set("a", "b", setting); err != nil {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if err := l.Set("a", "b", "trace="+file+".none"); err == nil {
		t.Error("a file that is not there: no error")
	}
	if out, status := run(t, l, "a", "ping", "-n", "-c", "1", "-W", "1", "b"); status != 0 {
		t.Errorf("ping: exit status %d:\n%s", status, out)
	}
}

package sandbox

import "testing"

// Programs make their temporary files in a folder that does not lead to what is hidden from them.
func TestScratch(t *testing.T) {
	for _, c := range []struct {
		hide  []string
		usual string
		want  string
	}{
		{[]string{"/var/lib/pathwise"}, "/tmp", ""},
		{[]string{"/tmp/agent"}, "/tmp", "/var/tmp"},
		{[]string{"/tmp"}, "/tmp", "/var/tmp"},
		{[]string{"/tmpfiles"}, "/tmp", ""},
		{[]string{"/home/a/own/state"}, "/home/a/own", "/tmp"},
		{[]string{"/tmp/a", "/var/tmp/b"}, "/tmp", "/dev/shm"},
		{[]string{"/tmp/a", "/var/tmp/b", "/dev/shm/c"}, "/tmp", ""},
	} {
		if got := scratch(c.hide, c.usual); got != c.want {
			t.Errorf("%v hidden, usually in %s: %q, want %q", c.hide, c.usual, got, c.want)
		}
	}
}

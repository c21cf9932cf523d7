package fleet

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// runner is how a host behind d is reached to run a script there once.
func (d *sshd) runner(t *testing.T, script string) *SSH {
	t.Helper()
	file := filepath.Join(t.TempDir(), "binary")
	write(t, file, "#!/bin/sh\n"+script+"\n")
	return &SSH{Host: "ucl", Address: d.address, User: d.user, Keys: []string{d.key}, KnownHosts: []string{d.known},
		Binaries: map[string]string{runtime.GOOS + "/" + runtime.GOARCH: file}, Folder: filepath.Join(d.home, "run"), Log: testLog(t)}
}

// What a program prints and how it ends comes back, and nothing of it stays on the host.
func TestSSHRun(t *testing.T) {
	t.Parallel()
	d := startSSHD(t)
	var out strings.Builder
	status, says, err := d.runner(t, `echo "$1, $2"; echo oops >&2; exit 3`).Run(t.Context(), &out, "host", "it's --json")
	if err != nil || status != 3 || says != "oops" || out.String() != "host, it's --json\n" {
		t.Errorf("status %d, says %q, error %v, printed %q", status, says, err, out.String())
	}
	if left, err := os.ReadDir(d.home); err != nil || len(left) > 0 {
		t.Errorf("left on the host: %v, %v", left, err)
	}
}

// The end of the context ends the program, and nothing of it stays either.
func TestSSHRunEnds(t *testing.T) {
	t.Parallel()
	d := startSSHD(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	began := time.Now()
	r := d.runner(t, `exec tail -f "$0"`) // whose argument says which folder it is of
	if _, _, err := r.Run(ctx, new(strings.Builder)); err == nil || time.Since(began) > endTime {
		t.Errorf("error %v after %s", err, time.Since(began))
	}
	if left := processesWith(t, r.Folder); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	if left, err := os.ReadDir(d.home); err != nil || len(left) > 0 {
		t.Errorf("left on the host: %v, %v", left, err)
	}
}

// processesWith are those that have a text among their arguments.
func processesWith(t *testing.T, text string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), text) { // one that has ended has none
			found = append(found, string(line))
		}
	}
	return found
}

package probe

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// serveFiles answers on loopback, with a folder for files or without.
func serveFiles(t *testing.T, folder string) int {
	t.Helper()
	server := &iperf3.Server{}
	if folder != "" {
		root, err := os.OpenRoot(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		server.Policy.Files = root
	}
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := iperf3.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return int(netip.MustParseAddrPort(listener.Addr().(*net.TCPAddr).String()).Port())
}

// A file arrives whole, either way, and both ends say how long they waited for theirs; nothing stays at the far end.
func TestThroughputOfFiles(t *testing.T) {
	near, far := t.TempDir(), t.TempDir()
	content := bytes.Repeat([]byte("0123456789abcde\n"), 200_001) // no whole block
	for _, path := range []string{filepath.Join(near, "mine"), filepath.Join(far, "theirs")} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	port := serveFiles(t, far)
	for _, test := range []struct {
		reverse bool
		files   Files
	}{
		{false, Files{Near: filepath.Join(near, "mine"), Far: "new"}},
		{true, Files{Near: filepath.Join(near, "copy"), Far: "theirs"}},
	} {
		p := &Throughput{Target: "127.0.0.1", Port: port, Config: iperf3.Config{Reverse: test.reverse}, Files: test.files}
		r, err := p.Do(t.Context())
		if err != nil {
			t.Fatalf("%+v: %v", test.files, err)
		}
		for _, m := range []measure.Metric{measure.FileWaitSender, measure.FileWaitReceiver} {
			if v, is := r.Get(m); !is || v < 0 || v > 1 {
				t.Errorf("reverse %v: %s is %g, %v", test.reverse, m, v, is)
			}
		}
		if got, _ := r.Get(measure.ReceivedBytes); got != float64(len(content)) || r.Parameters["far_file"] != test.files.Far {
			t.Errorf("reverse %v: %g bytes, %v", test.reverse, got, r.Parameters)
		}
	}
	if copied, err := os.ReadFile(filepath.Join(near, "copy")); err != nil || !bytes.Equal(copied, content) {
		t.Errorf("copied %d bytes: %v", len(copied), err)
	}
	for wait := time.Now(); ; { // the far end closes its file after its last byte
		left, err := os.ReadDir(far)
		if err == nil && len(left) == 1 {
			break
		}
		if time.Since(wait) > 30*time.Second {
			t.Fatalf("left at the far end: %v, %v", left, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// Files that the far end does not have, does not let out, or would overwrite are refused, with its words.
func TestFilesRefused(t *testing.T) {
	far, outside := t.TempDir(), t.TempDir()
	for name, do := range map[string]func(string) error{
		"there":  func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		"empty":  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":   func(path string) error { return os.Symlink(outside, path) },
	} {
		if err := do(filepath.Join(far, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	open, closed := serveFiles(t, far), serveFiles(t, "")
	for _, test := range []struct {
		port    int
		reverse bool
		files   Files
		says    string
	}{
		{open, true, Files{Far: "none"}, "no such file"},
		{open, true, Files{Far: "folder"}, "no regular file"},
		{open, true, Files{Far: "empty"}, "it is empty"},
		{open, true, Files{Far: "link/secret"}, "escapes"},
		{open, false, Files{Far: "link/new"}, "escapes"},
		{open, false, Files{Far: "there"}, "exists"},
		{open, true, Files{Far: "../secret"}, "below the folder"},
		{open, true, Files{Far: "/etc/hostname"}, "below the folder"},
		{closed, true, Files{Far: "there"}, "no folder for files"},
		{open, true, Files{Near: filepath.Join(far, "there")}, "no empty file"},
		{open, true, Files{Near: os.DevNull}, "no empty file"},
		{open, false, Files{Near: filepath.Join(far, "none")}, "no such file"},
		{open, false, Files{Near: far}, "want a file"},
		{open, false, Files{Direct: true}, "--far-file"},
	} {
		p := &Throughput{Target: "127.0.0.1", Port: test.port, Files: test.files,
			Config: iperf3.Config{Reverse: test.reverse, Duration: 100 * time.Millisecond}}
		_, err := p.Do(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.says) || !input.Bad(err) {
			t.Errorf("%+v: %v, want what says %q", test.files, err, test.says)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside: %v, %v", left, err)
	}
}

// A file of this end that nothing comes into does not stay, unless it was there before.
func TestFileThatNothingCame(t *testing.T) {
	folder := t.TempDir()
	there, link := filepath.Join(folder, "there"), filepath.Join(folder, "link")
	if err := errors.Join(os.WriteFile(there, nil, 0o600), os.Symlink(there, link)); err != nil {
		t.Fatal(err)
	}
	port := serveFiles(t, "")
	for _, path := range []string{filepath.Join(folder, "new"), there, link} {
		p := &Throughput{Target: "127.0.0.1", Port: port, Files: Files{Near: path, Far: "none"}, Config: iperf3.Config{Reverse: true}}
		if _, err := p.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "no folder for files") {
			t.Errorf("%s: %v", path, err)
		}
	}
	var names []string
	left, err := os.ReadDir(folder)
	for _, one := range left {
		names = append(names, one.Name())
	}
	if !slices.Equal(names, []string{"link", "there"}) || err != nil {
		t.Errorf("left: %q, %v", names, err)
	}
}

// The share is of the time of the end that had the file, and from a half on it is said what that means.
func TestFileWait(t *testing.T) {
	wait := func(seconds float64) *iperf3.StreamExtra { return &iperf3.StreamExtra{FileWait: &seconds} }
	report := &iperf3.Report{Streams: []iperf3.StreamReport{{Sent: &iperf3.Count{Seconds: 10}, Received: &iperf3.Count{Seconds: 8},
		LocalExtra: wait(1), RemoteExtra: wait(6)}}}
	r := measure.NewResult("throughput", time.Time{})
	Files{Near: "a", Far: "b"}.fill(r, report, false)
	if r.Metrics[measure.FileWaitSender] != 0.1 || r.Metrics[measure.FileWaitReceiver] != 0.75 || len(r.Notes) != 1 {
		t.Errorf("%v, %v", r.Metrics, r.Notes)
	}
	r = measure.NewResult("throughput", time.Time{})
	Files{Far: "b"}.fill(r, report, true)
	if len(r.Metrics) != 1 || r.Metrics[measure.FileWaitSender] != 0.6 {
		t.Errorf("%v", r.Metrics)
	}
}

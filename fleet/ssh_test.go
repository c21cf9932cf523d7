package fleet

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// The agent runs while the channel lasts; while it does nothing listens, nothing secret shows, and a channel that is lost
// is made again. At the end nothing is left.
func TestSSHLeavesNothing(t *testing.T) {
	t.Parallel()
	m, r, d := sshHost(t)
	var drained bool
	r.Leave, r.Drain = false, func(context.Context) error { drained = true; return nil }
	write(t, filepath.Join(d.home, "of-the-user"), "stays")
	stop := startSSH(t, r)
	there := func() bool { return m.archive.status["ucl"].Host != "" }
	m.archive.until(t, "the agent is there", there)
	pids := processes(t, r.Folder)
	if len(pids) != 1 {
		t.Fatalf("processes of the agent: %v, want one", pids)
	}
	if got := listeners(t, pids[0]); len(got) > 0 {
		t.Errorf("the agent listens on %v", got)
	}
	if got := exposed(t, []string{r.Credentials.Login, r.Credentials.Sealing}); len(got) > 0 {
		t.Errorf("secrets are in %v", got)
	}

	m.archive.mu.Lock()
	m.archive.status = map[string]Status{}
	m.archive.mu.Unlock()
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.archive.until(t, "the agent is back", there)
	again := processes(t, r.Folder)
	stop()
	if !drained {
		t.Error("nobody asked whether results wait")
	}
	if len(again) != 1 || again[0] == pids[0] {
		t.Errorf("processes of the agent after the channel was lost: %v, before: %v", again, pids)
	}
	if left := processes(t, r.Folder); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	left, err := os.ReadDir(d.home)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "of-the-user" {
		t.Errorf("left behind: %v", left)
	}
}

// A Result that still waits on the host is worth more than a tidy disk.
func TestSSHKeepsWhatIsNotDelivered(t *testing.T) {
	t.Parallel()
	m, r, _ := sshHost(t)
	r.Leave, r.Drain = false, func(context.Context) error { return errors.New("3 results wait") }
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx) }()
	m.archive.until(t, "the agent is there", func() bool { return m.archive.status["ucl"].Host != "" })
	cancel()
	if err := <-served; err == nil || !strings.Contains(err.Error(), "3 results wait") {
		t.Errorf("end with results on the host: %v", err)
	}
	if _, err := os.Stat(filepath.Join(r.Folder, "state")); err != nil {
		t.Errorf("state folder: %v", err)
	}
	if left := processes(t, r.Folder); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// check connects and says for which platform there is a binary.
func check(ctx context.Context, s *SSH) (platform string, err error) {
	if err := s.Validate(); err != nil {
		return "", err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return "", err
	}
	defer client.Close()
	platform, _, err = s.platform(ctx, client)
	return platform, err
}

// What can be wrong says what to do about it, and to whom.
func TestSSHHints(t *testing.T) {
	t.Parallel()
	d := startSSHD(t)
	k := testKeyring(t)
	good := d.reach("ucl", issue(t, k, "ucl", Reach{}), func(context.Context) (net.Conn, error) { return nil, errors.New("not here") })
	if platform, err := check(within(t), good); err != nil || platform != runtime.GOOS+"/"+runtime.GOARCH {
		t.Fatalf("check: %q, %v", platform, err)
	}
	folder := t.TempDir()
	empty, changed, stranger := filepath.Join(folder, "empty"), filepath.Join(folder, "changed"), filepath.Join(folder, "stranger")
	write(t, empty, "")
	other := writeKey(t, stranger)
	write(t, changed, "# a comment\n"+knownhosts.Line([]string{d.address}, other)+"\n")
	line := knownhosts.Line([]string{d.address}, d.hostKey)
	for name, c := range map[string]struct {
		change func(*SSH)
		want   []string
	}{
		"unknown host":  {func(s *SSH) { s.KnownHosts = []string{empty} }, []string{"not known", "add this line to " + empty + ": " + line}},
		"changed key":   {func(s *SSH) { s.KnownHosts = []string{changed} }, []string{"not the known one", "line 2 of " + changed, ssh.FingerprintSHA256(d.hostKey)}},
		"permission":    {func(s *SSH) { s.Keys = []string{stranger} }, []string{"permission denied to " + d.user, ssh.FingerprintSHA256(other)}},
		"no binary":     {func(s *SSH) { s.Binaries = map[string]string{"plan9/arm": "x"} }, []string{"only for plan9/arm: build one with GOOS=" + runtime.GOOS + " GOARCH=" + runtime.GOARCH}},
		"no key file":   {func(s *SSH) { s.Keys = []string{empty + "2"} }, []string{empty + "2"}},
		"no private":    {func(s *SSH) { s.Keys = []string{empty} }, []string{empty}},
		"nobody there":  {func(s *SSH) { s.Address = "127.0.0.1:1" }, []string{"ucl", "connection refused"}},
		"no agent sock": {func(s *SSH) { s.Keys, s.Agent = nil, empty }, []string{"ssh-agent"}},
	} {
		s := *good
		c.change(&s)
		_, err := check(within(t), &s)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to name %q", name, err, want)
			}
		}
	}
}

// A push that is cut half way leaves nothing that would ever be run.
func TestPushIsWholeOrNothing(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "it's a folder")
	target := folder + "/pathwise-1"
	push := func(content string, size int64) error {
		cmd := exec.Command("sh", "-c", pushScript(folder, target, size))
		cmd.Stdin = strings.NewReader(content)
		return cmd.Run()
	}
	names := func() (all []string) {
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			all = append(all, f.Name())
		}
		return all
	}
	if err := push("half", 8); err == nil || len(names()) > 0 {
		t.Errorf("half a binary: %v, left %v", err, names())
	}
	if err := push("complete", 8); err != nil || !slices.Equal(names(), []string{"pathwise-1"}) {
		t.Errorf("a whole binary: %v, left %v", err, names())
	}
	target = folder + "/pathwise-2"
	if err := push("complete", 8); err != nil || !slices.Equal(names(), []string{"pathwise-2"}) {
		t.Errorf("a newer binary: %v, left %v", err, names())
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its mode: %v, %v", info.Mode(), err)
	}
}

func TestGoPlatform(t *testing.T) {
	for in, want := range map[string]string{
		"Linux x86_64\n": "linux/amd64", "Linux aarch64\n": "linux/arm64", "Darwin arm64\n": "darwin/arm64",
		"FreeBSD amd64\n": "freebsd/amd64", "Linux i686\n": "linux/386",
		"": "", "Linux": "", "Linux vax": "", "../x x86_64": "",
	} {
		got, err := goPlatform(in)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
}

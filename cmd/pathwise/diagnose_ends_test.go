package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// sshLab is a lab in which carol runs sshd, and bob may log in there.
type sshLab struct {
	*lab.Lab
	folder string // of keys, and on carol of what is temporary
	binary string
}

// startSSHLab starts one of a host bob and a host carol, and has sshd answer. Lines are more of sshd's configuration, in which FOLDER is the folder.
func startSSHLab(t *testing.T, text, lines string) *sshLab {
	t.Helper()
	for _, program := range []string{"/usr/sbin/sshd", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil || os.Geteuid() != 0 {
			t.Skipf("%s is not here, or this is not root", program)
		}
	}
	carrying(t)
	spec, err := lab.ParseSpec("two ends", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(t.Context(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &sshLab{Lab: l, folder: t.TempDir(), binary: builtProgram(t)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll("/run/sshd", 0o755)) // of sshd's privilege separation
	must(os.Mkdir(s.path("tmp"), 0o755))
	for _, key := range []string{"id", "host_key"} {
		must(exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.path(key)).Run())
	}
	public, err := os.ReadFile(s.path("host_key.pub"))
	must(err)
	state, err := l.State()
	must(err)
	known := ""
	for _, n := range state.Nodes {
		known += n.Name + " " + string(public)
	}
	must(os.WriteFile(s.path("known_hosts"), []byte(known), 0o600))
	must(os.WriteFile(s.path("config"), []byte(strings.ReplaceAll("Port 22\nHostKey FOLDER/host_key\nAuthorizedKeysFile FOLDER/id.pub\nPidFile none\n"+
		"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"+lines, "FOLDER", s.folder)), 0o600))
	server, err := l.Start(t.Context(), "carol", lab.Command{Argv: []string{"/usr/sbin/sshd", "-D", "-e", "-f", s.path("config")}})
	must(err)
	t.Cleanup(func() {
		_ = server.Kill()
		_, _ = server.Wait()
	})
	onHost(t, l, "bob", os.Stderr, "sh", "-c", "for i in $(seq 100); do ssh-keyscan -T 1 carol >/dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1")
	return s
}

func (s *sshLab) path(name string) string { return filepath.Join(s.folder, name) }

// login are the flags by which bob may log in.
func (s *sshLab) login() []string {
	return []string{"--key", s.path("id"), "--known-hosts", s.path("known_hosts")}
}

// diagnosing is a call of diagnose on bob, by SSH.
func (s *sshLab) diagnosing(args ...string) []string {
	return slices.Concat([]string{s.binary, "diagnose", "--ssh", "root@carol"}, s.login(), args)
}

// left is what of ours is on carol: folders, and processes that run from there.
func (s *sshLab) left() (all []string) {
	names, _ := filepath.Glob(s.path("tmp/*")) // the pattern is right
	programs, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, p := range programs {
		if to, err := os.Readlink(p); err == nil && strings.HasPrefix(to, s.path("tmp")+"/") {
			names = append(names, p+" "+to)
		}
	}
	return names
}

// until waits for something that tells nobody when it comes to be.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-tick.C {
		if holds() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// twoOnALink is a lab of nothing but two hosts.
const twoOnALink = "hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol]}]\n"

// tmpOnCarol has what is temporary on carol lie in a folder of the test.
const tmpOnCarol = "SetEnv TMPDIR=FOLDER/tmp\n"

// A diagnosis over SSH measures and audits both ends, names settings of the far host as that host's, says what it put there, and leaves nothing
// of it. docs/diagnose.md shows the same.
func TestDiagnoseBySSH(t *testing.T) {
	t.Parallel()
	s := startSSHLab(t, `
seed: 5
hosts: {bob: {}, carol: {sysctl: {net.ipv4.tcp_rmem: "4096 87380 87380"}}}
links: [{between: [bob, carol], rate: 200mbit, delay: 2ms}]
`, tmpOnCarol)
	shown := stepBySSH(t, "diagnose.md")
	var out bytes.Buffer
	args := append(s.login(), "--report", s.path("report.json"))
	onHost(t, s.Lab, "bob", &out, "sh", "-c", strings.Replace(shown.command, "pathwise diagnose", s.binary+" diagnose "+strings.Join(args, " "), 1))
	got := strings.ReplaceAll(out.String(), s.path("tmp"), "/tmp")
	if !agrees(folderNames.ReplaceAllString(got, ""), folderNames.ReplaceAllString(shown.want, ""), false) {
		t.Errorf("$ %s\nprinted:\n%s\nthe page has:\n%s", shown.command, got, shown.want)
	}
	text, err := os.ReadFile(s.path("report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole struct{ Diagnosis diagnose.Diagnosis }
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	d := whole.Diagnosis
	if d.Verdict != "receive-window-limited" {
		t.Errorf("verdict %s", inShort(&d))
	}
	i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "host-settings" && f.Where == "carol" })
	if i < 0 || !strings.Contains(d.Findings[i].Explanation, "tcp-rmem") {
		t.Errorf("carol's settings are not named: %s", inShort(&d))
	}
	i = slices.IndexFunc(d.Results, func(r *measure.Result) bool { return strings.HasSuffix(string(r.Role), "/audit-far") })
	if i < 0 || d.Results[i].Source.Name != "carol" || d.Results[i].Target.Name != "carol" || d.Results[i].Kind != "audit" {
		t.Errorf("no Result is carol's audit: %v", d.Results)
	}
	if i = slices.IndexFunc(d.Results, func(r *measure.Result) bool { return r.Kind == "transact" }); i < 0 || d.Results[i].Error != nil {
		t.Error("no transactions were made")
	}
	if n := len(d.Notes); n == 0 || !strings.Contains(d.Notes[n-1], s.path("tmp/pathwise-")) || !strings.HasSuffix(d.Notes[n-1], "ended and taken away") ||
		!strings.Contains(d.Notes[n-1], "answered tests on 10.0.0.") {
		t.Errorf("notes: %q", d.Notes)
	}
	if left := s.left(); len(left) > 0 {
		t.Errorf("left on carol: %v", left)
	}
}

// folderNames are what differs from visit to visit.
var folderNames = regexp.MustCompile(`pathwise-\w{10}|SHA-256 \w{12}`)

// stepBySSH is the command by SSH of a page of docs, which TestDocs does not run.
func stepBySSH(t *testing.T, name string) step {
	t.Helper()
	page, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```console ssh\n")
	block, _, found := strings.Cut(block, "```")
	steps := readSteps(block, 0)
	if !found || len(steps) != 1 {
		t.Fatalf("docs/%s has %d commands by SSH, want 1", name, len(steps))
	}
	return steps[0]
}

// A diagnosis over SSH that ends in the middle, by Ctrl-C, by the death of the near end or of the far program, leaves nothing at the far end.
func TestDiagnoseBySSHEnds(t *testing.T) {
	t.Parallel()
	s := startSSHLab(t, twoOnALink, tmpOnCarol)
	for name, c := range map[string]struct {
		end  func(near int)
		says string
	}{
		"Ctrl-C": {func(near int) { _ = syscall.Kill(near, syscall.SIGINT) }, ""},
		"killed": {func(near int) { _ = syscall.Kill(near, syscall.SIGKILL) }, ""},
		"lost": {func(int) {
			for _, name := range s.left() {
				if exe, _, is := strings.Cut(name, " "); is {
					var pid int
					if _, err := fmt.Sscanf(exe, "/proc/%d/exe", &pid); err == nil {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			}
		}, "the far end's program"},
	} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Start(context.Background(), "bob", lab.Command{Argv: s.diagnosing("-t", "60"), Stdout: write, Stderr: write})
		write.Close()
		if err != nil {
			t.Fatal(err)
		}
		until(t, name+": tests run on carol", func() bool {
			return slices.ContainsFunc(s.left(), func(n string) bool { return strings.Contains(n, " ") })
		})
		near := nearProcess(t, s)
		until(t, name+": transfers run", func() bool { return transfers(t, s) })
		c.end(near)
		said, err := io.ReadAll(read)
		if err != nil {
			t.Fatal(err)
		}
		read.Close()
		if status, err := p.Wait(); err != nil || status == exitDone || !strings.Contains(string(said), c.says) {
			t.Errorf("%s: status %d, %v: %s", name, status, err, said)
		}
		until(t, name+": nothing is left on carol", func() bool { return len(s.left()) == 0 })
	}
}

// nearProcess is the number of the process that diagnoses on bob.
func nearProcess(t *testing.T, s *sshLab) (pid int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(line), s.binary+"\x00diagnose\x00") && strings.Contains(string(line), s.folder) {
			if _, err := fmt.Sscanf(f, "/proc/%d/cmdline", &pid); err != nil {
				t.Fatal(err)
			}
		}
	}
	if pid == 0 {
		t.Fatal("nothing diagnoses on bob")
	}
	return pid
}

// transfers reports whether tests are under way on carol: it has connections to a port that is not sshd's.
func transfers(t *testing.T, s *sshLab) bool {
	t.Helper()
	var out bytes.Buffer
	onHost(t, s.Lab, "carol", &out, "sh", "-c", "awk '$4 == \"01\" && $2 !~ /:0016$/' /proc/net/tcp /proc/net/tcp6 | wc -l")
	return strings.TrimSpace(out.String()) != "0"
}

// A far end of another platform, one without room, and an address that is not its own are said in a line, with what to do.
func TestDiagnoseBySSHRefused(t *testing.T) {
	t.Parallel()
	s := startSSHLab(t, twoOnALink, "SetEnv TMPDIR=FOLDER/none HOME=FOLDER/none PATH=FOLDER/bin:/usr/bin:/bin\n")
	refused := func(want string, args ...string) {
		t.Helper()
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Start(context.Background(), "bob", lab.Command{Argv: s.diagnosing(args...), Stdout: write, Stderr: write})
		write.Close()
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(read)
		read.Close()
		if status, err := p.Wait(); err != nil || status != exitFailed || !strings.Contains(string(said), want) || strings.Count(string(said), "\n") != 1 {
			t.Errorf("status %d, %v: %s\nwant %s", status, err, said, want)
		}
	}
	refused("no folder has room for ")
	if err := os.MkdirAll(s.path("none"), 0o700); err != nil {
		t.Fatal(err)
	}
	refused("want an address of this host", "bob", "-4")
	if err := os.MkdirAll(s.path("bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("bin/uname"), []byte("#!/bin/sh\necho Linux s390x\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused("build one with GOOS=linux GOARCH=s390x, and put it into " + filepath.Dir(s.binary) + " as pathwise-linux-s390x")
}

package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// reaching tries every way to what an agent keeps that its programs may think of, and prints which of them led there. $1 is the
// agent's folder, $2 its credentials, $3 its process.
const reaching = `
try() { if "$@" >/dev/null 2>&1; then echo "reached: $*"; fi; }
for file in "$1/plan" "$1/bytes.json" "$1/lock" "$1"/spool/* "$2" "$1/../link"; do
	try cat "$file"; try tee -a "$file"; try ln "$file" "/tmp/hard.$$"; try cat "/proc/self/root$file"; try mv "$file" "$file.moved"
done
try ls "$1"; try ls "$1/spool"; try touch "$1/new"; try mv "$1" "$1.moved"; try rm -r "$1/spool"
try cat "/proc/$3/environ"; try cat "/proc/$3/maps"; try dd if="/proc/$3/mem" bs=1 count=1
for fd in /proc/$3/fd/*; do try readlink "$fd"; done
for task in /proc/$3/task/*; do try cat "$task/environ"; try cat "$task/maps"; done
env | grep -q PATHWISE_TEST_SECRET && echo "reached: the environment"
test -r /etc/passwd && echo "runs"
`

// reachedSecrets runs that as a tool of an agent, and returns what it printed.
func reachedSecrets(t *testing.T, dir, limits string) string {
	t.Helper()
	credentials, state := filepath.Join(dir, "credentials"), filepath.Join(dir, "state")
	if err := os.WriteFile(credentials, []byte("a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(credentials, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATHWISE_TEST_SECRET", "a secret")
	p, err := policy.Parse("agent.yaml", []byte(limits+"classes: {a: {programs: [/bin/sh, /usr/bin/sh]}}\ndefault: a"))
	if err != nil {
		t.Fatal(err)
	}
	a := run(t, Config{Dir: state, Secrets: []string{credentials}, Policy: p})
	if err := a.Plan(t.Context(), fleet.Plan{Host: host, Number: 1, From: time.Now(), Until: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	r := newRun(1, time.Now())
	r.Task = measure.Task{Kind: "command", Target: "127.0.0.1", Parameters: map[string]any{
		"argv": []string{"sh", "-c", reaching, "sh", state, credentials, fmt.Sprint(os.Getpid())}}}
	if err := a.Order(t.Context(), fleet.Order{Run: &r}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a Result", func() bool { return a.link.outcome(1) != "" })
	out := a.link.result(1).Samples.Output
	if out == nil {
		t.Fatal(a.link.outcome(1))
	}
	return out.Stdout + out.Stderr
}

// A program that runs as a tool opens neither the agent's credentials nor its plan and spool, neither its memory nor its
// environment: as root, whose programs are another user, and as an ordinary user.
func TestToolsReachNoSecrets(t *testing.T) {
	if dir := os.Getenv("PATHWISE_TEST_ORDINARY"); dir != "" {
		if got := reachedSecrets(t, dir, ""); got != "runs\n" {
			t.Errorf("an ordinary user's tool:\n%s", got)
		}
		return
	}
	cases := []string{""}
	if os.Geteuid() == 0 {
		cases = append(cases, "limits: {programs: {user: daemon}}\n")
		asNobody(t)
	}
	for _, limits := range cases {
		if got := reachedSecrets(t, t.TempDir(), limits); got != "runs\n" {
			t.Errorf("%s\n%s", limits, got)
		}
	}
}

// asNobody runs this test again as an ordinary user.
func asNobody(t *testing.T) {
	t.Helper()
	const nobody = 65534
	dir, err := os.MkdirTemp("", "pathwise-ordinary-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary, own := filepath.Join(dir, "test"), filepath.Join(dir, "own")
	text, err := os.ReadFile(os.Args[0])
	for _, do := range []func() error{
		func() error { return err },
		func() error { return os.WriteFile(binary, text, 0o755) },
		func() error { return os.Chmod(dir, 0o755) },
		func() error { return os.Mkdir(own, 0o700) },
		func() error { return os.Chown(own, nobody, nobody) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), binary, "-test.run=^TestToolsReachNoSecrets$")
	c.Dir, c.Env = own, append(os.Environ(), "PATHWISE_TEST_ORDINARY="+own, "HOME="+own)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v:\n%s", err, out)
	}
}

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// pathwise runs a command in this process.
func pathwise(t *testing.T, args ...string) (status int, out, complaint string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(args, nil, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

// Tokens are made, listed and revoked; what a call lacks is said in one line, before anything is asked.
func TestMeshToken(t *testing.T) {
	data := t.TempDir()
	expect := func(want int, has string, args ...string) string {
		t.Helper()
		status, out, complaint := pathwise(t, append([]string{"mesh"}, args...)...)
		if status != want || !strings.Contains(out+complaint, has) || want != exitDone && strings.Count(complaint, "\n") != 1 {
			t.Errorf("%v: exit status %d, want %d with %q: %s%s", args, status, want, has, out, complaint)
		}
		return strings.TrimSpace(out)
	}
	expect(exitDone, "", "token", "--data", data)
	alice := expect(exitDone, "", "token", "alice", "--data", data)
	if again := expect(exitDone, "", "token", "alice", "--data", data); len(alice) < 26 || alice == again {
		t.Errorf("tokens %q and %q", alice, again)
	}
	expect(exitDone, `"token": "`, "token", "bob", "--data", data, "--json")
	if names := expect(exitDone, "", "token", "--data", data); names != "alice\nbob" {
		t.Errorf("names %q", names)
	}
	expect(exitDone, "bob has no token any more", "token", "bob", "--revoke", "--data", data)
	expect(exitBadCall, "none of that name", "token", "bob", "--revoke", "--data", data)
	expect(exitBadCall, "name", "token", "../bob", "--data", data)
	expect(exitBadCall, `scope "write": want read, run or admin`, "token", "eve", "--scope", "read,write", "--data", data)
	expect(exitBadCall, "want the name of a token", "token", "--revoke", "--data", data)
	expect(exitBadCall, "want the folder of a controller", "token", "eve", "--data", filepath.Join(data, "none"))

	token := filepath.Join(data, "token")
	if err := os.WriteFile(token, []byte("two\nlines\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	test := []string{"run", "a", "b", "rtt"}
	with := func(args ...string) []string { return append(append([]string{}, test...), args...) }
	expect(exitBadCall, "--controller as well", with("--token-file", token)...)
	expect(exitBadCall, "want the file of your token", with("--controller", "https://127.0.0.1:1")...)
	expect(exitBadCall, "--token-file: want one line", with("--controller", "https://127.0.0.1:1", "--token-file", token)...)
	expect(exitBadCall, "want a URL such as", with("--controller", "127.0.0.1:1")...)
	expect(exitBadCall, "none", with("--controller", "https://127.0.0.1:1", "--ca-file", filepath.Join(data, "none"))...)
	t.Setenv(tokenVariable, alice)
	expect(exitBadCall, "want https", with("--controller", "http://192.0.2.1:1")...)
	expect(exitFailed, "127.0.0.1:1", with("--controller", "http://127.0.0.1:1")...)
}

// A caller with a token runs what the mesh file allows, on a controller that it knows by URL only.
func TestMeshRunByToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	api, nats := freeAddress(t), freeAddress(t)
	file := filepath.Join(dir, "mesh.yaml")
	text := fmt.Sprintf(`
controller:
  data: %s
  listen: %s
  nats: {listen: "%s"}
  callers: {classes: {staff: {tools: [load]}}, assign: [{class: staff, token: alice, network: 127.0.0.0/8}]}
hosts: {a: 127.0.0.2, b: 127.0.0.3}
tools: {load: {probe: host}, rtt: {probe: ping}}
groups: {own: {list: [a]}}
tests: [{tool: load, group: own, schedule: {every: 1h}}]
`, filepath.Join(dir, "data"), api, nats)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, complaint := pathwise(t, "mesh", "deploy", file, "a", "--out", dir); status != exitDone {
		t.Fatal(complaint)
	}
	begin(t, "serve", file)
	begin(t, "agent", "--credentials", filepath.Join(dir, "a.credentials"), "--state", filepath.Join(dir, "state"))
	url := "http://" + api
	if status, _, complaint := pathwise(t, "mesh", "status", "--controller", url); status != exitFailed || !strings.Contains(complaint, "or a token") {
		t.Errorf("without a token: exit status %d: %s", status, complaint)
	}
	_, token, _ := pathwise(t, "mesh", "token", "alice", "--data", filepath.Join(dir, "data"))
	tokenFile := filepath.Join(dir, "alice.token")
	if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	status := ""
	for late := time.Now().Add(time.Minute); !strings.Contains(status, `"state": "here"`); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("the agent does not report: %s", status)
		}
		_, status, _ = pathwise(t, "mesh", "status", "--json", "--controller", url, "--token-file", tokenFile)
	}
	run := func(target, tool string) (int, string, string) {
		return pathwise(t, "mesh", "run", "a", target, tool, "--controller", url, "--token-file", tokenFile)
	}
	if status, out, complaint := run("a", "load"); status != exitDone || !strings.Contains(out, "host_memory_available_bytes") {
		t.Errorf("exit status %d: %s%s", status, out, complaint)
	}
	want := "pathwise: class staff: tools: \"rtt\": want one of load\n"
	if status, _, complaint := run("b", "rtt"); status != exitFailed || complaint != want {
		t.Errorf("exit status %d: %q, want %q", status, complaint, want)
	}
}

// freeAddress is an address and port of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// begin starts this binary as pathwise until the test or end ends it, and returns when it has said its first line.
func begin(t *testing.T, args ...string) (end func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), actAsPathwise+"=1")
	said := &bytes.Buffer{}
	c.Stderr = said
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
		_ = c.Wait() // its status is that of an ended command
		late.Stop()
	})
	t.Cleanup(func() {
		end()
		if t.Failed() {
			t.Logf("%v said:\n%s", args, said)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%v: %q, %v", args, line, err)
	}
	return end
}

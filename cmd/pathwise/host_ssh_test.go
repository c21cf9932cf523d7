package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/lab"
)

// Another machine is audited by SSH: this binary is put there, and what it found is printed here. Nothing of it stays.
func TestHostBySSH(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"/usr/sbin/sshd", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil || os.Geteuid() != 0 {
			t.Skipf("%s is not here, or this is not root", program)
		}
	}
	carrying(t)
	binary, folder := builtProgram(t), t.TempDir()
	l, err := lab.Start(t.Context(), &lab.Spec{
		Hosts: map[string]lab.Host{"bob": {}, "carol": {Sysctl: map[string]string{"net.ipv4.tcp_sack": "0"}}},
		Links: []lab.Link{{Between: []string{"bob", "carol"}}},
	}, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll("/run/sshd", 0o755)) // of sshd's privilege separation
	path := func(name string) string { return filepath.Join(folder, name) }
	for _, key := range []string{"id", "host_key"} {
		must(exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key)).Run())
	}
	public, err := os.ReadFile(path("host_key.pub"))
	must(err)
	state, err := l.State()
	must(err)
	known := ""
	for _, n := range state.Nodes {
		known += n.Name + " " + string(public)
	}
	must(os.WriteFile(path("known_hosts"), []byte(known), 0o600))
	must(os.WriteFile(path("config"), []byte(strings.ReplaceAll("Port 22\nHostKey DIR/host_key\nAuthorizedKeysFile DIR/id.pub\nPidFile none\n"+
		"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n", "DIR", folder)), 0o600))
	server, err := l.Start(t.Context(), "carol", lab.Command{Argv: []string{"/usr/sbin/sshd", "-D", "-e", "-f", path("config")}})
	must(err)
	t.Cleanup(func() {
		_ = server.Kill()
		_, _ = server.Wait()
	})
	onHost(t, l, "bob", os.Stderr, "sh", "-c", "for i in $(seq 100); do ssh-keyscan -T 1 carol >/dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1")

	before := homeNames(t)
	var out bytes.Buffer
	began := time.Now()
	onHost(t, l, "bob", &out, binary, "host", "root@carol", "--key", path("id"), "--known-hosts", path("known_hosts"),
		"--only", "tcp-sack,tcp-dsack", "--json")
	var r host.Report
	must(json.Unmarshal(out.Bytes(), &r))
	if len(r.Checks) != 2 || r.Checks[0].Status != host.Problem || r.Checks[1].Status != host.OK || r.Verdict != host.Problem {
		t.Errorf("after %s: %+v", time.Since(began), r)
	}
	if now := homeNames(t); now != before {
		t.Errorf("left at home: %s; before: %s", now, before)
	}
}

// homeNames are what of ours is in root's home.
func homeNames(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("/root/.pathwise-run-*")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

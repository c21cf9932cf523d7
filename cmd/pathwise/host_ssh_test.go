package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/host"
)

// Another machine is audited by SSH: this binary is put there, and what it found is printed here. Nothing of it stays.
func TestHostBySSH(t *testing.T) {
	t.Parallel()
	s := startSSHLab(t, `
hosts: {bob: {}, carol: {sysctl: {net.ipv4.tcp_sack: "0"}}}
links: [{between: [bob, carol]}]
`, "")
	before := homeNames(t)
	var out bytes.Buffer
	began := time.Now()
	onHost(t, s.Lab, "bob", &out, append([]string{s.binary, "host", "root@carol", "--only", "tcp-sack,tcp-dsack", "--json"}, s.login()...)...)
	var r host.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
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

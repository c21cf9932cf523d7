package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

// nobodyRow is a row of the table: a command, whether it works without root, and where.
var nobodyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (yes|no)(, where ping sockets are allowed)? \\| [^|]{9,} \\|$")

// The table of docs/trace.md says which modes of a trace and of mtu work without root on this kernel, with ping sockets and without them. The far end
// runs pathwise respond.
func TestTraceWithoutRoot(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	page, err := os.ReadFile("../../docs/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| `pathwise` … | without root | why |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := nobodyRow.FindAllStringSubmatch(table, -1)
	if !found || len(rows) != strings.Count(table, "\n")+1 {
		t.Fatalf("%d rows can be read of\n%s", len(rows), table)
	}
	for _, mode := range []string{"--report", "--live", "--both", "mtu HOST", "mtu HOST --proto icmp", "mtu HOST --proto stamp", "mtu HOST --proto tcp", "--targets", "--middlebox",
		"--multipath", "--watch", "--mtu", "--proto udp", "--proto icmp", "--proto tcp"} {
		if !strings.Contains(table, mode) {
			t.Errorf("the page does not say whether %s works", mode)
		}
	}
	k := newKernelRouters(t, strangerSetup, "a", "r", "b")
	k.sh("ip netns exec $p-r nft delete table ip f")
	k.sh(`ip netns exec $p-b sh -c 'echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range'`)
	k.respondOn("b", asNobody(nil)...)
	targets := targetsOfAll(t)
	for _, pings := range []bool{true, false} {
		if !pings { // as the kernel has it where nobody sets it
			k.sh(`ip netns exec $p-a sh -c 'echo "1 0" >/proc/sys/net/ipv4/ping_group_range'`)
		}
		var all sync.WaitGroup
		for _, row := range rows {
			all.Go(func() { traceAsNobody(t, k, row, pings, targets) })
		}
		all.Wait()
	}
}

// targetsOfAll is a file of targets that every user may read, which is not so in folders of tests.
func targetsOfAll(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "pathwise-targets-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	file := filepath.Join(folder, "hosts.txt")
	if err := os.WriteFile(file, []byte(hostB.String()+"\n198.51.100.2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{folder, file} { // whatever the umask
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// traceAsNobody holds one mode against its row of the table.
func traceAsNobody(t *testing.T, k *kernelRouters, row []string, pings bool, targets string) {
	t.Helper()
	call := strings.Fields(strings.NewReplacer("HOST", hostB.String(), "FILE", targets).Replace(row[1]))
	argv := append([]string{"netns", "exec", k.name + "-a"}, asNobody(append([]string{lab.Self()}, call...))...)
	c := exec.Command("ip", argv...)
	c.Env = append(os.Environ(), actAsPathwise+"=1")
	out, err := c.CombinedOutput()
	if works := err == nil && strings.Contains(string(out), hostB.String()); works != (row[2] == "yes" && (row[3] == "" || pings)) {
		t.Errorf("%s, ping sockets %v: the page says %s%s, and it is %v: %s", row[1], pings, row[2], row[3], works, out)
	}
	if err != nil && !strings.Contains(string(out), "cap_net_raw") {
		t.Errorf("%s: it does not say what would help: %s", row[1], out)
	}
}

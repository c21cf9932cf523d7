package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

// The table of docs/trace.md says which modes of a trace work without root on this kernel, with ping sockets and without them.
func TestTraceWithoutRoot(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	page, err := os.ReadFile("../../docs/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| mode | without root | why |\n")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (yes|no)(, where ping sockets are allowed)? \\|").FindAllStringSubmatch(table, -1)
	if !found || len(rows) != 6 {
		t.Fatalf("the page has %d modes, want 6", len(rows))
	}
	k := newKernelRouters(t, strangerSetup, "a", "r", "b")
	k.sh("ip netns exec $p-r nft delete table ip f")
	for _, pings := range []bool{true, false} {
		if !pings { // as the kernel has it where nobody sets it
			k.sh(`ip netns exec $p-a sh -c 'echo "1 0" >/proc/sys/net/ipv4/ping_group_range'`)
		}
		var all sync.WaitGroup
		for _, row := range rows {
			all.Go(func() { traceAsNobody(t, k, row, pings) })
		}
		all.Wait()
	}
}

// traceAsNobody holds one mode against its row of the table.
func traceAsNobody(t *testing.T, k *kernelRouters, row []string, pings bool) {
	t.Helper()
	argv := append([]string{"netns", "exec", k.name + "-a"}, asNobody(append([]string{lab.Self(), "trace", hostB.String()}, strings.Fields(row[1])...))...)
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

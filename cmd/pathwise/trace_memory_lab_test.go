package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

// manySetup has b answer for all of a prefix.
const manySetup = strangerSetup + `
ip netns exec $p-r nft delete table ip f
ip -n $p-r route add 10.99.0.0/20 via 198.51.100.6; ip -n $p-b route add local 10.99.0.0/20 dev lo
`

// However many targets a command has, it takes hardly more memory than for a few: 128 of them are under way at once. PATHWISE_SWEEPS=all takes 4094.
func TestManyTracesTakeLittleMemory(t *testing.T) {
	carrying(t)
	k := newKernelRouters(t, manySetup, "a", "r", "b")
	few, many := k.peakOfTraces("10.99.0.0/26", 62), k.peakOfTraces("10.99.2.0/23", 510)
	t.Logf("peak of resident memory: 62 targets %d kB, 510 targets %d kB", few, many)
	if few == 0 || many*2 > few*3 { // fewer than 128 are not all that are under way at once: a seventh more was seen
		t.Errorf("510 targets take %d kB, and 62 %d kB", many, few)
	}
	if allSweeps() {
		most := k.peakOfTraces("10.99.0.0/20", 4094)
		t.Logf("4094 targets %d kB", most)
		if most*4 > many*5 { // a fourteenth more was seen
			t.Errorf("4094 targets take %d kB, and 510 %d kB", most, many)
		}
	}
}

// peakOfTraces is the most memory in kB that a trace to all of a prefix had resident.
func (k *kernelRouters) peakOfTraces(prefix string, targets int) (peak int) {
	k.t.Helper()
	c := exec.Command("ip", "netns", "exec", k.name+"-a", lab.Self(), "trace", prefix, "--json", "--hop-rate", "10000")
	c.Env = append(os.Environ(), actAsPathwise+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		k.t.Fatal(err)
	}
	lines := 0
	for s := bufio.NewReader(out); ; lines++ {
		if _, err := s.ReadString('\n'); err != nil {
			break
		}
		peak = max(peak, peakOf(c.Process.Pid))
	}
	if err := c.Wait(); err != nil || lines != targets {
		k.t.Errorf("%s: %d lines, want %d: %v", prefix, lines, targets, err)
	}
	return peak
}

// peakOf is what a process had resident at most, in kB (VmHWM of proc(5)); 0: it has ended.
func peakOf(pid int) (kB int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Sscan(peak, &kB)
	return kB
}

package agent

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCleanMaps(t *testing.T) {
	const smaps = `00400000-01659000 r-xp 00000000 fe:00 12                                /opt/my tools/pathwise
Size:              18788 kB
Rss:                4564 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01659000-028b4000 r--p 01259000 fe:00 12                                /opt/my tools/pathwise
Anonymous:             0 kB
028b4000-028b5000 r--p 024b4000 fe:00 12                                /opt/my tools/pathwise
Anonymous:             4 kB
028b5000-029de000 rw-p 024b5000 fe:00 12                                /opt/my tools/pathwise
Anonymous:             0 kB
10286800000-10287400000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7fa481e86000-7fa481fdc000 r-xp 00026000 fe:00 13                        /usr/lib/x86_64-linux-gnu/libc.so.6
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0x1659000}, {0x1659000, 0x28b4000}}
	if diff := cmp.Diff(want, cleanMaps(strings.NewReader(smaps), "/opt/my tools/pathwise"), cmp.AllowUnexported(mapping{})); diff != "" {
		t.Errorf("mappings (-want +got):\n%s", diff)
	}
}

// filesInMemory are the megabytes of files that this process has mapped and in memory (proc_pid_status(5)).
func filesInMemory(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nRssFile:")
	var kiB float64
	if _, err := fmt.Sscanf(rest, "%f kB", &kiB); err != nil {
		t.Fatalf("RssFile: %v", err)
	}
	return kiB * 1024 / 1e6
}

// TestShed lets this process's program go, and goes on.
func TestShed(t *testing.T) {
	before := filesInMemory(t)
	shedProgram()
	if after := filesInMemory(t); after > 0.9*before {
		t.Errorf("%.1f MB of files in memory before, %.1f after", before, after)
	}
}

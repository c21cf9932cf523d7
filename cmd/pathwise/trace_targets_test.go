package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// Targets of a file, of both families, come out in their order, a Result a line; one that has no address has one, too, and the status says so.
func TestManyTraces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts.txt")
	if err := os.WriteFile(file, []byte("# ours\n127.0.0.2\n127.0.0.4/31 # two\nno-such-host.invalid\n127.0.0.2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	status := run([]string{"trace", "127.0.0.1", "--targets", file, "--json"}, strings.NewReader(""), &stdout, &stderr)
	type line struct {
		Target, Status string
		Hops           float64
	}
	var got []line
	for lines := json.NewDecoder(&stdout); lines.More(); {
		var r measure.Result
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		got = append(got, line{r.Target.Name, string(r.Status), r.Metrics[measure.HopCount]})
	}
	want := []line{{"127.0.0.1", "ok", 1}, {"127.0.0.2", "ok", 1}, {"127.0.0.4", "ok", 1}, {"127.0.0.5", "ok", 1}, {"no-such-host.invalid", "failed", 0}}
	if diff := cmp.Diff(want, got); diff != "" || status != exitFailed {
		t.Errorf("status %d, %s (-want +got):\n%s", status, stderr.String(), diff)
	}
	stdout.Reset()
	if run([]string{"trace", "--targets", "-"}, strings.NewReader("127.0.0.1\n127.0.0.1\n127.0.0.3\n"), &stdout, &stderr) != exitDone ||
		!strings.HasSuffix(stdout.String(), "\n2 targets: 2 answered.\nnote: standard input:2: 127.0.0.1 is given twice, first at standard input:1\n") {
		t.Errorf("printed %s", stdout.String())
	}
}

func TestManyTracesBadCalls(t *testing.T) {
	for call, want := range map[string]string{
		"trace carol dave --multipath":   "--multipath: not for several hosts; give one, or leave it out",
		"trace carol dave --live":        "--live: not for several hosts; give one, or leave it out",
		"trace carol dave --mtu":         "--mtu: not for several hosts; give one, or leave it out",
		"trace carol --hop-rate 20":      `--hop-rate: "20": it is for several hosts; give more, or --targets`,
		"trace carol dave --hop-rate 0":  `--hop-rate: "0": give a whole number from 1 to 10000`,
		"trace carol:80 dave":            `target "carol:80": give a name, an address, or a prefix such as 192.0.2.0/28`,
		"trace carol dave -4 -6":         "-4 -6: many targets are traced over one of them; give one of them",
		"trace carol dave --queries 11":  `--queries: "11": want a whole number from 1 to 10`,
		"trace --targets /dev/null/none": "--targets: open /dev/null/none: not a directory",
	} {
		if got := refused(t, strings.Fields(call)...); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

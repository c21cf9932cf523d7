package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lookup"
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

// Who traces many targets never waits for a name server, each address is asked of it once, and Results keep their order.
func TestManyTracesLookUpBeside(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var asked atomic.Int64
	go func() { // ends when the socket is closed
		for b := make([]byte, 1500); ; asked.Add(1) {
			if _, _, err := silent.ReadFrom(b); err != nil {
				return
			}
		}
	}()
	known := &knownFlags{names: byDNS, knownSources: knownSources{server: silent.LocalAddr().String()}}
	if err := known.open(); err != nil {
		t.Fatal(err)
	}
	const targets, shared = 500, 10
	var out strings.Builder
	var want []string
	m := &manyTraces{session: &session{out: &out, err: io.Discard, known: known}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	finished := m.tellThen(ctx)
	began := time.Now()
	for i := range targets {
		r := measure.NewResult("trace", began)
		r.Target.Name = fmt.Sprintf("h%d", i)
		for ttl := range shared {
			r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: ttl + 1, Addresses: []string{fmt.Sprintf("192.0.2.%d", ttl)}})
		}
		r.Fail(errors.New("no answer"))
		want = append(want, fmt.Sprintf("route to h%d: no answer", i))
		finished(r, nil)
	}
	if took := time.Since(began); took > lookup.MostTime/2 {
		t.Errorf("to pass %d Results on took %v", targets, took)
	}
	for asked.Load() == 0 {
		time.Sleep(ms)
	}
	cancel()
	m.telling.Wait()
	if d := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n\n")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if n := asked.Load(); n > shared {
		t.Errorf("%d questions of %d addresses", n, shared)
	}
}

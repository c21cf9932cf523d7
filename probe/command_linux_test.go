package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/parse"
)

func anything([]string) error { return nil }

// do runs a command and checks that the Result and the error agree.
func do(t *testing.T, ctx context.Context, c *Command) (*measure.Result, error) {
	t.Helper()
	r, err := c.Do(ctx)
	if r == nil || (err == nil) != (r.Error == nil) || (err == nil) != (r.Status == measure.StatusOK) {
		t.Fatalf("Result %+v, error %v", r, err)
	}
	return r, err
}

// The rules of docs/mesh-tools.md read what Debian's programs print.
func TestRealPrograms(t *testing.T) {
	server := startIperf3(t)
	cases := []struct {
		argv  []string
		rules []parse.Rule
		least map[measure.Metric]float64
	}{
		{[]string{"ping", "-n", "-c", "3", "-i", "0.01", "{target}"}, []parse.Rule{
			{Metric: measure.SentPackets, Regex: `(\d+) packets transmitted`},
			{Metric: measure.LossRatio, Regex: `([\d.]+%) packet loss`},
			{Metric: measure.RTTMean, Regex: `= [\d.]+/(?P<value>[\d.]+)/[\d.]+/[\d.]+ (?P<unit>\w+)`},
		}, map[measure.Metric]float64{measure.SentPackets: 3, measure.LossRatio: 0, measure.RTTMean: 1e-7}},
		{[]string{"traceroute", "-n", "{target}"}, []parse.Rule{{Metric: measure.HopCount, Regex: `^ *(\d+) `}},
			map[measure.Metric]float64{measure.HopCount: 1}},
		{[]string{"mtr", "--json", "-n", "-c", "2", "-i", "1", "-G", "0.1", "{target}"}, []parse.Rule{
			{Metric: measure.RTTMax, JSON: "$.report.hubs[-1].Wrst", Unit: "ms"},
		}, map[measure.Metric]float64{measure.RTTMax: 1e-7}},
		{[]string{"iperf3", "-c", "{target}", "-B", "{source}", "-p", "{port}", "-n", "4M"}, []parse.Rule{
			{Metric: measure.Throughput, Regex: `([\d.]+ \wbits/sec) .*receiver`},
		}, map[measure.Metric]float64{measure.Throughput: 1e6}},
		{[]string{"iperf3", "-c", "{target}", "-p", "{port}", "-n", "4M", "--json"}, []parse.Rule{
			{Metric: measure.Throughput, JSON: "$.end.sum_received.bits_per_second"},
			{Metric: measure.CPUSender, JSON: "$.end.cpu_utilization_percent.host_total", Unit: "%"},
		}, map[measure.Metric]float64{measure.Throughput: 1e6, measure.CPUSender: 1e-9}},
	}
	for _, c := range cases {
		t.Run(c.argv[0]+c.argv[1], func(t *testing.T) {
			if _, err := exec.LookPath(c.argv[0]); err != nil {
				t.Skipf("%s is not installed", c.argv[0])
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			r, err := do(t, ctx, &Command{Target: "127.0.0.1", Argv: c.argv, Rules: c.rules, Port: server, Allow: anything})
			if err != nil {
				t.Fatalf("%v\n%+v", err, r.Samples.Output)
			}
			for m, least := range c.least {
				if got, found := r.Get(m); !found || got < least {
					t.Errorf("%s = %v, %v; want %v at least; the output was\n%s", m, got, found, least, r.Samples.Output.Stdout)
				}
			}
			if len(r.Metrics) != len(c.rules) || r.Source.Address != "127.0.0.1" || r.Target.Address != "127.0.0.1" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// startIperf3 starts a server and returns its port.
func startIperf3(t *testing.T) int {
	t.Helper()
	if _, err := exec.LookPath("iperf3"); err != nil {
		return 0
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	server := exec.Command("iperf3", "-s", "-p", strconv.Itoa(port))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	eventually(t, "iperf3 listens", func() bool {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		c.Close()
		return true
	})
	return port
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came true that %s", what)
		}
	}
}

// shell is a command that a shell does: in these tests it stands for any program.
func shell(script string, rules ...parse.Rule) *Command {
	return &Command{Target: "t", Argv: []string{"sh", "-c", script}, Rules: rules, Allow: anything}
}

func TestCommandKeepsAllOutput(t *testing.T) {
	var lines []string
	c := shell("echo \"rtt = $1 ms\"; echo trouble >&2; cat; echo $LC_ALL", parse.Rule{Metric: "rtt_seconds", Key: "rtt"})
	c.Argv, c.Values = append(c.Argv, "sh", "{x}"), map[string]string{"x": "12; exit 1"}
	c.Line = func(l string) { lines = append(lines, l) }
	r, err := do(t, t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	want := &measure.Output{Command: []string{"sh", "-c", c.Argv[2], "sh", "12; exit 1"}, Stdout: "rtt = 12; exit 1 ms\nC\n", Stderr: "trouble\n"}
	if diff := cmp.Diff(want, r.Samples.Output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if len(lines) != 3 {
		t.Errorf("lines %q", lines)
	}
}

// A program that fails is an error with what it said, and what it measured before still counts.
func TestCommandFails(t *testing.T) {
	rule := parse.Rule{Metric: "rtt_seconds", Key: "rtt"}
	cases := []struct {
		command *Command
		status  measure.Status
		err     string
		exit    int
	}{
		{shell("echo rtt: 1 ms; echo one >&2; echo two >&2; exit 3", rule), measure.StatusPartial, "run sh: exit status 3: two", 3},
		{shell("echo no route; exit 2", rule), measure.StatusFailed, "run sh: exit status 2: no route", 2},
		{shell("exit 2", rule), measure.StatusFailed, "run sh: exit status 2", 2},
		{shell("kill -9 $$", rule), measure.StatusFailed, "run sh: signal: killed", -1},
		{shell("echo other", rule), measure.StatusFailed, `read what the program printed: rtt_seconds: key "rtt" matches nothing`, 0},
	}
	for _, c := range cases {
		r, err := do(t, t.Context(), c.command)
		if text(err) != c.err || r.Status != c.status || r.Samples.Output == nil || r.Samples.Output.ExitCode != c.exit {
			t.Errorf("%q: %v, status %s, output %+v; want %q", c.command.Argv[2], err, r.Status, r.Samples.Output, c.err)
		}
	}
}

func TestCommandDoesNotStart(t *testing.T) {
	no := errors.New("not on this host's list")
	for want, c := range map[string]*Command{
		"run true: no program may run here":       {Target: "t", Argv: []string{"true"}},
		"run true: not on this host's list":       {Target: "t", Argv: []string{"true"}, Allow: func([]string) error { return no }},
		"start no-such-program: exec: \"no-such":  {Target: "t", Argv: []string{"no-such-program"}, Allow: anything},
		`{x} "-rf": a value cannot begin an opti`: {Target: "t", Argv: []string{"true", "{x}"}, Values: map[string]string{"x": "-rf"}, Allow: anything},
	} {
		r, err := do(t, t.Context(), c)
		if !strings.HasPrefix(text(err), want) || r.Samples.Output != nil || r.Status != measure.StatusFailed {
			t.Errorf("got %v, %+v; want %s", err, r, want)
		}
	}
}

// However much a program prints, it goes on to its end, and the end is kept.
func TestCommandPrintsTooMuch(t *testing.T) {
	r, err := do(t, t.Context(), shell("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo rtt: 7 ms", parse.Rule{Metric: "rtt_seconds", Key: "rtt"}))
	o := r.Samples.Output
	if err != nil || r.Metrics["rtt_seconds"] != 0.007 || !o.Truncated || len(o.Stdout) > KeptBytes+100 || len(o.Stdout) < KeptBytes {
		t.Errorf("%v, metrics %v, %d bytes kept, truncated %v", err, r.Metrics, len(o.Stdout), o.Truncated)
	}
}

// When ctx ends, the program and all that it started end within a second, also what takes no notice of signals, and
// what was printed is kept.
func TestCommandEndsWithContext(t *testing.T) {
	for _, script := range []string{
		"echo rtt: 1 ms; echo $$ >PIDS; sleep 600 & echo $! >>PIDS; echo ready; wait",
		"trap '' INT TERM; echo rtt: 1 ms; echo $$ >PIDS; sleep 600 & echo $! >>PIDS; echo ready; while :; do sleep 600; done",
		"trap 'echo rtt: 2 ms; exit 0' INT; echo $$ >PIDS; echo ready; while :; do sleep 0.02; done",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		pids := filepath.Join(t.TempDir(), "pids")
		c := shell(strings.ReplaceAll(script, "PIDS", pids), parse.Rule{Metric: "rtt_seconds", Key: "rtt"})
		var ended time.Time
		c.Line = func(l string) {
			if l == "ready" {
				ended = time.Now()
				cancel()
			}
		}
		r, err := do(t, ctx, c)
		if took := time.Since(ended); took > 5*time.Second { // 0.6 s on a machine that is not busy
			t.Errorf("%s: ended after %v", script, took)
		}
		if !errors.Is(err, context.Canceled) || r.Status != measure.StatusPartial || r.Metrics["rtt_seconds"] == 0 || r.Samples.Output.ExitCode != -1 {
			t.Errorf("%s: %v, %+v", script, err, r)
		}
		for _, pid := range strings.Fields(string(mustRead(t, pids))) {
			gone(t, pid)
		}
	}
}

// Whoever starts a program is told its number once it runs: that of its process and of its group.
func TestCommandStarted(t *testing.T) {
	c := shell("sleep 0.2; echo $$")
	var pid, group int
	c.Started = func(n int) { pid = n; group, _ = unix.Getpgid(n) }
	r, err := do(t, t.Context(), c)
	if err != nil || pid < 2 || group != pid || strings.TrimSpace(r.Samples.Output.Stdout) != strconv.Itoa(pid) {
		t.Errorf("%v: process %d of group %d started, %q ran", err, pid, group, r.Samples.Output.Stdout)
	}
	c = &Command{Target: "t", Argv: []string{"no-such-program"}, Allow: anything, Started: func(int) { t.Error("it started") }}
	if _, err := do(t, t.Context(), c); err == nil {
		t.Error("no error")
	}
}

// What a program leaves running ends with it.
func TestCommandLeavesNothing(t *testing.T) {
	r, err := do(t, t.Context(), shell("sleep 600 & echo $!"))
	if err != nil || r.DurationSeconds > 20 {
		t.Fatalf("%v, %+v", err, r)
	}
	gone(t, strings.TrimSpace(r.Samples.Output.Stdout))
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// gone waits until a process is no more, or is only waited for by its parent.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil || n < 2 {
		t.Fatalf("process %q", pid)
	}
	eventually(t, "process "+pid+" is gone", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		return err != nil && unix.Kill(n, 0) == unix.ESRCH || strings.Contains(string(stat), ") Z ")
	})
}

package agent

import (
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// serverOf is the opening of a program for the n-th run, for a minute.
func serverOf(n, port int, argv ...string) fleet.Opening {
	return fleet.Opening{Run: id(n), Source: "b", Peer: "127.0.0.1", From: time.Now(), Until: time.Now().Add(time.Minute),
		Responder: measure.Responder{Kind: measure.ResponderCommand, Port: port, Command: argv}}
}

// allowing is a policy that allows programs to one class, which host b has, and none to others.
func allowing(t *testing.T, programs ...string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("agent.yaml", []byte("classes: {a: {programs: ["+strings.Join(programs, ", ")+"]}, none: {}}\n"+
		"limits: {programs: {files: 50}}\nassign: [{class: a, hosts: b}]\ndefault: none"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestServer has Debian's iperf3 answer one test: it listens when the order is answered, within the limits of programs, and
// ends by itself, which is in the log with what it said last.
func TestServer(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed")
	}
	var log safeBuffer
	a := run(t, Config{Dir: t.TempDir(), Policy: allowing(t, path), Log: slog.New(slog.NewTextHandler(&log, nil))})
	port := freePort(t)
	o := serverOf(1, port, "iperf3", "-s", "-1", "-p", strconv.Itoa(port))
	for range 2 { // the same order again does nothing
		if err := a.Order(t.Context(), fleet.Order{Open: &o}); err != nil {
			t.Fatal(err)
		}
	}
	if err := test(t, port, iperf3.Config{}); err != nil {
		t.Errorf("a test right after the order: %v", err)
	}
	eventually(t, "closed after the test", func() bool { return len(a.status().Open) == 0 && !listening(port) })
	for _, want := range []string{"run=" + id(1), "program=" + path, `how="by itself"`, "last="} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log.String())
		}
	}
	for _, lack := range a.status().Lacks {
		if strings.HasPrefix(lack.What, "opening") {
			t.Errorf("its end is told as a lack: %+v", lack)
		}
	}
}

// TestServerEnds ends openings whose program would go on for ever, with all that it started; or it failed by itself.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		until  time.Duration
		act    func(*testing.T, *running)
		how    string
	}{
		"by its time":  {"sleep 1000 & wait", 2 * time.Second, nil, `how="with its time"`},
		"by an order":  {"sleep 1000 & wait", time.Minute, func(_ *testing.T, a *running) { cancel(a) }, `how="with its time"`},
		"by the agent": {"trap '' INT TERM; sleep 1000 & wait; sleep 1000", time.Minute, func(_ *testing.T, a *running) { a.stop() }, `how="with its time"`},
		"by itself":    {"sleep 0.5; echo files: $(ulimit -n); exit 3", time.Minute, nil, `how="exit status 3" last="files: 50"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log safeBuffer
			a := run(t, Config{Dir: t.TempDir(), Policy: allowing(t, "/bin/sh", "/usr/bin/sh"), Log: slog.New(slog.NewTextHandler(&log, nil))})
			pidFile := programsFolder(t) + "/pid"
			o := serverOf(1, 0, "sh", "-c", "echo $$ >"+pidFile+"; "+test.script)
			o.Until = time.Now().Add(test.until)
			if err := a.Plan(t.Context(), fleet.Plan{Host: host, Number: 1, Opens: []fleet.Opening{o}}); err != nil {
				t.Fatal(err)
			}
			pid := 0
			eventually(t, "the program runs", func() bool {
				text, _ := os.ReadFile(pidFile)
				pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return pid > 1
			})
			if test.act != nil {
				test.act(t, a)
			}
			eventually(t, "its process group is gone", func() bool { return unix.Kill(-pid, 0) == unix.ESRCH })
			eventually(t, "the log has "+test.how, func() bool { return strings.Contains(log.String(), test.how) })
		})
	}
}

func TestServerRefused(t *testing.T) {
	t.Parallel()
	a := run(t, Config{Dir: t.TempDir(), Policy: allowing(t, "/bin/true", "/usr/bin/true")})
	for want, o := range map[string]fleet.Opening{
		"class a: programs: only ":                   serverOf(1, 0, "sh"),
		"executable file not found":                  serverOf(1, 0, "no-such-program"),
		"no program to start":                        serverOf(1, 0),
		"ports: 1024-65535 may be opened, not 80":    serverOf(1, 80, "true"),
		"class none: no external programs, so not /": func() fleet.Opening { o := serverOf(1, 0, "true"); o.Source = "x"; return o }(),
	} {
		if err := a.Order(t.Context(), fleet.Order{Open: &o}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

package agent

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
)

// loadKind chooses what a loaded agent does, loadProgram which program it is, and loadSeconds for how long it is watched.
const (
	loadKind    = "PATHWISE_AGENT_LOAD"
	loadProgram = "PATHWISE_AGENT_LOAD_PROGRAM"
	loadSeconds = "PATHWISE_AGENT_LOAD_SECONDS"

	aMinute = "a run a minute" // of 60 echoes a second apart, to each peer
	aSecond = "a run a second" // of one echo
)

// TestLoad measures what an agent takes that pings 100 peers once a second and finds one route to each a minute, with its link
// to the controller, over TLS. It is a process of its own: this program first, which has all tests in it, and then pathwise as
// it is installed, which has the controller in it. It runs only if asked to:
//
//	PATHWISE_AGENT_LOAD_SECONDS=60 go test -v -run TestLoad ./agent
func TestLoad(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv(loadSeconds))
	if err != nil {
		t.Skipf("set %s to measure", loadSeconds)
	}
	pathwise := filepath.Join(t.TempDir(), "pathwise")
	build := exec.Command("env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", pathwise, "../cmd/pathwise")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build pathwise: %v\n%s", err, out)
	}
	for _, test := range []struct{ kind, program string }{
		{aMinute, os.Args[0]}, {aSecond, os.Args[0]}, {aMinute, pathwise}, {aSecond, pathwise},
	} {
		t.Run(test.kind+" of "+filepath.Base(test.program), func(t *testing.T) {
			hub := exec.Command(os.Args[0])
			hub.Env = append(os.Environ(), agentDir+"="+t.TempDir(), loadKind+"="+test.kind, loadProgram+"="+test.program)
			hub.Stderr = os.Stderr
			hub.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
			out, err := hub.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := hub.Start(); err != nil {
				t.Skipf("no network of its own: %v", err)
			}
			lines := bufio.NewScanner(out)
			lines.Scan()
			pid, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("the hub says %q", lines.Text())
			}
			time.Sleep(70 * time.Second) // it has its plan, and the first pings end as the next begin
			before, began := cpuSeconds(t, pid), time.Now()
			time.Sleep(time.Duration(seconds) * time.Second)
			cpu := (cpuSeconds(t, pid) - before) / time.Since(began).Seconds()
			m := memory(t, pid)
			if err := hub.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			for lines.Scan() {
				t.Log(lines.Text())
			}
			if err := hub.Wait(); err != nil {
				t.Error(err)
			}
			t.Logf("%.2f %% of a core; %.1f MB resident, %.1f MB of them its own and %.1f MB of files, mostly the program; %.1f MB at most",
				100*cpu, m["VmRSS"], m["RssAnon"], m["RssFile"], m["VmHWM"])
		})
	}
}

// beLoaded is the agent that TestLoad watches, of this program.
func beLoaded(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()

	credentials, err := fleet.ReadCredentials(filepath.Join(dir, "credentials"))
	if err != nil {
		return err
	}
	link, err := fleet.NewLink(fleet.LinkConfig{Credentials: credentials})
	if err != nil {
		return err
	}
	a, err := New(Config{Host: credentials.Host, Dir: filepath.Join(dir, "agent"), Link: link, Alone: true})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// cpuSeconds is the time on processors that a process has had (proc_pid_stat(5)).
func cpuSeconds(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	const perSecond = 100 // USER_HZ, on every Linux that Go runs on
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / perSecond
}

// memory is what a process holds in memory, in MB, by the names of proc_pid_status(5).
func memory(t *testing.T, pid int) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		var kiB float64
		if _, err := fmt.Sscanf(strings.TrimSpace(value), "%f kB", &kiB); err == nil {
			all[name] = kiB * 1024 / 1e6
		}
	}
	return all
}

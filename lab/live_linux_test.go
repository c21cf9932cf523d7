package lab

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/stat"
)

// start stands an attached lab up for one test.
func start(t testing.TB, text string, o Options) *Lab {
	t.Helper()
	l, err := Start(context.Background(), mustParse(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close lab: %v", err)
		}
	})
	return l
}

// run runs a command on a host and returns what it printed.
func run(t testing.TB, l *Lab, host string, argv ...string) (string, int) {
	t.Helper()
	return runEnv(t, l, host, nil, argv...)
}

// runEnv is run with an environment; nil is this process's.
func runEnv(t testing.TB, l *Lab, host string, env []string, argv ...string) (string, int) {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Skipf("%s is not installed", argv[0])
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	p, err := l.Start(t.Context(), host, Command{Argv: argv, Env: env, Stdout: writer, Stderr: writer})
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	status, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return string(out), status
}

// kinds are the devices that this user can have.
func kinds(t *testing.T) []DeviceKind {
	if f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0); err == nil {
		f.Close()
		return []DeviceKind{DeviceVeth, DeviceTUN}
	}
	t.Log("without TUN: /dev/net/tun is closed to this user")
	return []DeviceKind{DeviceVeth}
}

var echoTime = regexp.MustCompile(`time=([0-9.]+) ms`)

// Debian's ping sees the delay that was asked for. The bound is wide, for a busy machine; `make bench` prints how
// close it comes.
func TestPingSeesNominalDelay(t *testing.T) {
	for _, kind := range kinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			l := start(t, bobAndCarol, Options{Device: kind})
			out, status := run(t, l, "bob", "ping", "-n", "-c", "50", "-i", "0.01", "carol")
			if status != 0 {
				t.Fatalf("ping: exit status %d:\n%s", status, out)
			}
			var rtt []float64
			for _, m := range echoTime.FindAllStringSubmatch(out, -1) {
				v, _ := strconv.ParseFloat(m[1], 64)
				rtt = append(rtt, v)
			}
			if s := stat.Summarize(rtt); s.Min < 40 || s.Median > 42 {
				t.Errorf("round trips of %d pings: min %v ms, median %v ms; want 40 to 42", s.N, s.Min, s.Median)
			}
		})
	}
}

// Debian's traceroute sees each router by the address of the interface that the probe came in by.
func TestTracerouteSeesRouters(t *testing.T) {
	for _, kind := range kinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			l := start(t, bobAndCarol, Options{Device: kind})
			out, _ := run(t, l, "bob", "traceroute", "-n", "-q", "1", "carol")
			var hops []string
			for _, line := range strings.Split(out, "\n")[1:] {
				if f := strings.Fields(line); len(f) > 1 {
					hops = append(hops, f[1])
				}
			}
			if got := strings.Join(hops, " "); got != "10.0.0.2 10.0.1.2 10.0.2.2" {
				t.Errorf("hops %s:\n%s", got, out)
			}
		})
	}
}

// What a real sender and receiver miss is what the truth counted.
func TestLossIsWhatTruthCounted(t *testing.T) {
	l := start(t, "seed: 3\nhosts: {a: {}, b: {}}\nlinks: [{between: [a, b], delay: 1ms, forward: {loss: 5%}}]", Options{})
	out, _ := run(t, l, "a", "ping", "-n", "-q", "-c", "1000", "-i", "0.001", "b")
	m := regexp.MustCompile(`(\d+) packets transmitted, (\d+) received`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("ping printed:\n%s", out)
	}
	sent, _ := strconv.ParseUint(m[1], 10, 64)
	received, _ := strconv.ParseUint(m[2], 10, 64)
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	forward := truth.Links[0]
	if forward.Packets != sent || forward.Dropped["loss"] != sent-received || truth.EmulatorRefused != 0 {
		t.Errorf("ping sent %d, received %d; truth: %+v", sent, received, forward)
	}
}

func TestSetChangesARunningLink(t *testing.T) {
	l := start(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], delay: 1ms}]", Options{})
	if err := l.Set("b", "a", "forward.loss=100%"); err != nil { // from b to a
		t.Fatal(err)
	}
	if out, status := run(t, l, "a", "ping", "-n", "-c", "1", "-W", "0.2", "b"); status != 1 {
		t.Errorf("ping over a dead link: exit status %d:\n%s", status, out)
	}
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	if truth.Links[0].Delivered != 1 || truth.Links[1].Dropped["loss"] != 1 {
		t.Errorf("the request should arrive and the reply be lost: %+v", truth.Links)
	}
	for _, c := range []struct{ a, b, setting, want string }{
		{"a", "x", "loss=1%", `link: "x": no such host or router in lab ` + l.Name},
		{"a", "b", "loss=2", `loss: "2": want a ratio from 0 to 1, or 0% to 100%, such as 0.0001 or 0.01%`},
	} {
		err := l.Set(c.a, c.b, c.setting)
		var bad interface{ BadInput() bool }
		if err == nil || err.Error() != c.want || !errors.As(err, &bad) || !bad.BadInput() {
			t.Errorf("Set(%s, %s, %s): error %v, want bad input: %s", c.a, c.b, c.setting, err, c.want)
		}
	}
}

// A host's sysctl are its own, and can be changed from outside.
func TestSysctl(t *testing.T) {
	l := start(t, `hosts: {a: {sysctl: {net.ipv4.tcp_rmem: "4096 87380 131072"}}, b: {}}`, Options{})
	read := func() string {
		out, _ := run(t, l, "a", "cat", "/proc/sys/net/ipv4/tcp_rmem")
		return strings.Join(strings.Fields(out), " ")
	}
	if got := read(); got != "4096 87380 131072" {
		t.Errorf("tcp_rmem of a is %s", got)
	}
	if err := l.SetSysctl("a", "net.ipv4.tcp_rmem", "4096 87380 999999"); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != "4096 87380 999999" {
		t.Errorf("tcp_rmem of a is %s after the change", got)
	}
}

func TestExec(t *testing.T) {
	l := start(t, "hosts: {a: {}}", Options{})
	if out, status := run(t, l, "a", "sh", "-c", "echo out; echo err >&2; exit 7"); status != 7 || out != "out\nerr\n" {
		t.Errorf("got %q, exit status %d", out, status)
	}
	if _, status := run(t, l, "a", "sh", "-c", "kill -9 $$"); status != 128+9 {
		t.Errorf("a killed command gives status %d, want 137", status)
	}
	p, err := l.Start(t.Context(), "nowhere", Command{Argv: []string{"true"}})
	if err == nil {
		_, err = p.Wait()
	}
	if err == nil || !strings.HasPrefix(err.Error(), `host: "nowhere": no such host`) {
		t.Errorf("unknown host: error %v", err)
	}
}

// A change of one thing leaves the others of the link as they were asked for.
func TestSetKeepsTheRest(t *testing.T) {
	l := start(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], rate: 8mbit, queue: 3p}]", Options{})
	if err := l.Set("a", "b", "rate=4mbit"); err != nil {
		t.Fatal(err)
	}
	run(t, l, "a", "ping", "-n", "-q", "-c", "20", "-l", "20", "-s", "1400", "-W", "1", "b")
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	if forward := truth.Links[0]; forward.Packets != 20 || forward.Dropped["queue"] == 0 {
		t.Errorf("a burst of 20 into a queue of 3 packets: %+v", forward)
	}
}

// A command in a lab can be interrupted: it does not inherit the engine's deafness to Ctrl-C.
func TestExecHearsSignals(t *testing.T) {
	l := start(t, "hosts: {a: {}}", Options{})
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	p, err := l.Start(t.Context(), "a", Command{Argv: []string{"sh", "-c", "echo ready; exec sleep 1000"}, Stdout: writer})
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status, err := p.Wait(); err != nil || status != 128+int(syscall.SIGINT) {
		t.Errorf("exit status %d, %v; want 130", status, err)
	}
}

// A command ends when whoever asked for it goes, with everything it started.
func TestExecEndsWithItsCaller(t *testing.T) {
	l := start(t, "hosts: {a: {}}", Options{})
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := l.Start(ctx, "a", Command{Argv: []string{"sh", "-c", "echo ready; sleep 1000 & wait"}, Stdout: writer})
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(reader); err != nil { // ends when the last holder of the pipe has gone
		t.Error(err)
	}
	if _, err := p.Wait(); err == nil {
		t.Error("no error from a command that was cut off")
	}
}

func TestNamesAreUnique(t *testing.T) {
	l := start(t, "hosts: {a: {}}", Options{Name: "twin-" + strconv.Itoa(os.Getpid())})
	_, err := Start(t.Context(), mustParse(t, "hosts: {a: {}}"), Options{Name: l.Name})
	if !errors.Is(err, ErrRunning) {
		t.Errorf("second lab of one name: error %v, want ErrRunning", err)
	}
	if _, err := Open("nobody-has-this-name"); !errors.Is(err, ErrNoLab) {
		t.Errorf("Open of no lab: error %v, want ErrNoLab", err)
	}
}

// holderVariable makes this test binary stand a lab up and wait to be killed.
const holderVariable = "PATHWISE_TEST_HOLD_LAB"

func TestHoldLab(t *testing.T) {
	if os.Getenv(holderVariable) == "" {
		t.Skip("runs only as a child of TestNothingOutlivesItsStarter")
	}
	l := start(t, bobAndCarol, Options{})
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	sleep := []string{"sh", "-c", `echo started; exec sleep "$0"`, os.Getenv(holderVariable)}
	if _, err := l.Start(context.Background(), "bob", Command{Argv: sleep, Stdout: writer}); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("engine " + strconv.Itoa(l.Status.PID) + "\n")
	select {}
}

// kill -9 of the process that started a lab ends the engine, its namespaces and every process in them.
func TestNothingOutlivesItsStarter(t *testing.T) {
	marker := "98765." + strconv.Itoa(os.Getpid()) // an argument that no other sleep has
	holder := exec.Command(os.Args[0], "-test.run", "^TestHoldLab$", "-test.v")
	holder.Env = append(os.Environ(), holderVariable+"="+marker)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	engine := awaitEnginePID(t, out)
	if len(processesWith(t, marker)) == 0 {
		t.Error("the command in the lab is not running before the kill")
	}
	_ = holder.Process.Signal(syscall.SIGKILL)
	_ = holder.Wait()
	awaitExit(t, engine)
	if left := processesWith(t, marker); len(left) > 0 {
		t.Errorf("left behind: processes %v", left)
	}
}

func awaitEnginePID(t *testing.T, out io.Reader) int {
	t.Helper()
	var seen bytes.Buffer
	b := make([]byte, 256)
	for {
		n, err := out.Read(b)
		seen.Write(b[:n])
		if m := regexp.MustCompile(`engine (\d+)\n`).FindSubmatch(seen.Bytes()); m != nil {
			pid, _ := strconv.Atoi(string(m[1]))
			return pid
		}
		if err != nil {
			t.Fatalf("no engine: %v:\n%s", err, seen.String())
		}
	}
}

// awaitExit waits until a process that is not our child has gone.
func awaitExit(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		if n, err := unix.Poll(poll, 1000); n == 1 && err == nil {
			return
		}
	}
	t.Fatalf("process %d is still there", pid)
}

// processesWith lists the processes that have an argument, in every PID namespace below this one.
func processesWith(t *testing.T, argument string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		text, _ := os.ReadFile(f) // gone in between: not found
		for _, a := range bytes.Split(text, []byte{0}) {
			if string(a) == argument {
				found = append(found, filepath.Base(filepath.Dir(f)))
			}
		}
	}
	return found
}

// Hosts use cubic where nothing else is said, on whatever route and whatever the machine's default is.
func TestCubicIsTheDefault(t *testing.T) {
	if out, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control"); err != nil || !strings.Contains(string(out), "cubic") {
		t.Skipf("this kernel has no cubic: %s %v", out, err)
	}
	for _, spec := range []string{"hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], delay: 10ms}]",
		"hosts: {a: {}, b: {}}\nrouters: [r]\nlinks: [{between: [a, r], delay: 10ms}, {between: [r, b]}]"} {
		l := start(t, spec, Options{})
		out, status := run(t, l, "a", "sh", "-c", `ip route get $(getent ahostsv4 b | awk 'NR==1 {print $1}'); cat /proc/sys/net/ipv4/tcp_congestion_control`)
		if status != 0 || !strings.Contains(out, "cubic") {
			t.Errorf("exit status %d:\n%s", status, out)
		}
	}
}

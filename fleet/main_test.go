package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/pathwise-net/pathwise/measure"
)

// This binary also plays the processes that a test kills: an outside NATS server, a controller, and the agent that SSH
// starts.
func TestMain(m *testing.M) {
	role, argument := os.Getenv("FLEET_ROLE"), os.Getenv("FLEET_ARGUMENT")
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		role = "agent"
	}
	var err error
	switch role {
	case "":
		os.Exit(m.Run())
	case "agent":
		err = agentProcess()
	case "nats":
		err = natsProcess(argument)
	case "controller":
		err = controllerProcess(argument)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// agentProcess is `pathwise agent --stdio`.
func agentProcess() error {
	c, dial, err := Stdio(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(os.Args[len(os.Args)-1], 0o700); err != nil {
		return err
	}
	l, err := NewLink(LinkConfig{Credentials: c, Dial: dial, Once: true, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	return newTestAgent(c.Host, l).run(context.Background(), l)
}

// natsProcess is a NATS server that is not ours.
func natsProcess(config string) error {
	opts, err := server.ProcessConfigFile(config)
	if err != nil {
		return err
	}
	opts.NoSigs, opts.NoLog = true, true
	n, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	n.Start()
	if !n.ReadyForConnections(startTime) {
		return fmt.Errorf("not ready")
	}
	return say(n.Addr().String())
}

// controllerConfig is what controllerProcess is told.
type controllerConfig struct {
	Folder string
	Listen string
}

// controllerProcess files what comes, each ID synced to a file before it is acknowledged, as an archive does.
func controllerProcess(argument string) error {
	var c controllerConfig
	if err := json.Unmarshal([]byte(argument), &c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	keys, err := OpenKeyring(filepath.Join(c.Folder, "keys"))
	if err != nil {
		return err
	}
	agents, err := keys.Agents()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := StartServer(ctx, ServerConfig{Keys: keys, Agents: agents, Listen: c.Listen, Log: log})
	if err != nil {
		return err
	}
	h, err := OpenHub(ctx, HubConfig{Keys: keys, Server: s, Log: log})
	if err != nil {
		return err
	}
	for host := range agents {
		if err := h.Plan(ctx, Plan{Host: host, Number: 1, Runs: []measure.Run{*testRun(host, "r", 1)}}); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(filepath.Join(c.Folder, "archive"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := say(s.Addr().String()); err != nil {
		return err
	}
	return h.Serve(ctx, &fileArchive{f: f})
}

// say prints the one line that the parent waits for, and waits in turn for its end.
func say(line string) error {
	fmt.Println(line)
	if os.Getenv("FLEET_ROLE") == "nats" {
		select {} // until it is killed
	}
	return nil
}

// child starts this binary in a role and returns it with the line that it says when it is ready. It is killed with the
// test, and with the parent.
func child(t *testing.T, role, argument string, stderr *strings.Builder) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FLEET_ROLE="+role, "FLEET_ARGUMENT="+argument)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if stderr == nil {
		stderr = new(strings.Builder)
	}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	var line string
	if _, err := fmt.Fscanln(out, &line); err != nil {
		kill(cmd)
		t.Fatalf("child %s: %v: %s", role, err, stderr)
	}
	return cmd, line
}

func kill(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// patience is how long a test waits for what must come: much longer than it takes on any machine.
const patience = 30 * time.Second

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

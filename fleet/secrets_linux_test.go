package fleet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listeners are the sockets of a process that anybody could talk to: TCP that listens, UDP that is bound.
func listeners(t *testing.T, pid int) (all []string) {
	t.Helper()
	own := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(fds) == 0 {
		t.Fatalf("list descriptors of %d: %v", pid, err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil {
			own[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6", "raw", "raw6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if os.IsNotExist(err) {
			continue // no IPv6
		}
		if err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			// sl local rem st queues tr tm uid timeout inode; state 0A is LISTEN
			if w := strings.Fields(s.Text()); len(w) > 9 && own[w[9]] && (w[3] == "0A" || !strings.HasPrefix(table, "tcp")) {
				all = append(all, table+" "+w[1])
			}
		}
		f.Close()
	}
	return all
}

// exposed returns the processes whose command line holds one of the secrets.
func exposed(t *testing.T, secrets []string) (all []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, path := range append(lines, environs(t)...) {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended, or is another's
		}
		seen = seen || len(data) > 0
		if slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(string(data), s) }) {
			all = append(all, path)
		}
	}
	if !seen {
		t.Fatal("no process seen at all")
	}
	return all
}

func environs(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOnePortAndNoSecretShows(t *testing.T) {
	folder := t.TempDir()
	keys, err := OpenKeyring(filepath.Join(folder, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	c := issue(t, keys, "ucl", keys.Embedded(address))
	config, err := json.Marshal(controllerConfig{Folder: folder, Listen: address})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd, _ := child(t, "controller", string(config), &log)
	agentLog := new(syncBuilder)
	l, err := NewLink(LinkConfig{Credentials: c, Log: textLog(agentLog)})
	if err != nil {
		t.Fatal(err)
	}
	a := newTestAgent("ucl", l)
	runAgent(t, a, l)
	a.add(testResult("ucl", testRun("ucl", "r", 1)))
	waitFor(t, "a result is filed", func() bool { _, plans := a.counts(); return a.waiting() == 0 && len(plans) > 0 })
	a.mu.Lock()
	far := a.plan.Runs[0].Responder
	a.mu.Unlock()
	textLog(agentLog).Info("what a careless caller may log", "credentials", c, "same", fmt.Sprintf("%v %+v %#v %s", c, c, c, far))

	var port int
	if _, err := fmt.Sscanf(address, "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprintf("tcp 0100007F:%04X", port)}
	if got := listeners(t, cmd.Process.Pid); !slices.Equal(got, want) {
		t.Errorf("the controller listens on %v, want %v", got, want)
	}
	if got := listeners(t, os.Getpid()); len(got) > 0 {
		t.Errorf("the process of the agent listens on %v", got)
	}
	secrets := append(seeds(t, folder), c.Login, c.Sealing, "the-secret-of-a-run")
	if got := exposed(t, secrets); len(got) > 0 {
		t.Errorf("secrets are in %v", got)
	}
	kill(cmd) // its log is whole then
	if !strings.Contains(log.String(), "message server") || !strings.Contains(agentLog.String(), "connected") {
		t.Error("nothing was logged at all")
	}
	for _, s := range secrets {
		if strings.Contains(log.String(), s) || strings.Contains(agentLog.String(), s) {
			t.Error("a secret is in a log")
		}
	}
}

// seeds of the controller, and the PEM of its authority's key.
func seeds(t *testing.T, folder string) (all []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "keys", "controller.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]string
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	for name, seed := range s {
		if len(seed) < 50 {
			t.Fatalf("%s is no seed", name)
		}
		all = append(all, seed)
	}
	return all
}

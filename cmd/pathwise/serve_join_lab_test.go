package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

// A controller starts with nothing and pings its gateway; another host joins by the line that was pasted there, and the two are measured to
// each other; both are there again after a restart.
func TestServeAtHome(t *testing.T) {
	t.Parallel()
	carrying(t)
	m := newMeshLab(t, `
hosts: {controller: {}, far: {}}
routers: [home]
links:
  - {between: [controller, home], rate: 100mbit, delay: 1ms}
  - {between: [home, far],        rate: 100mbit, delay: 10ms}
`)
	if err := os.Mkdir(m.path("far"), 0o700); err != nil {
		t.Fatal(err)
	}
	starts := 0
	serve := func(more string) {
		starts++
		m.serve = m.run("controller", "sh", "-c", "cd "+m.dir+" && exec "+m.binary+" serve --data "+m.data+more+" 2>"+m.path(fmt.Sprint("log", starts)))
		m.eventually("the controller answers", func() bool { return m.status() != nil })
	}
	serve(" --reach " + m.addresses["controller"])
	text, err := os.ReadFile(filepath.Join(m.data, "mesh", everybodyFile))
	if err != nil {
		t.Fatal(err)
	}
	often := strings.Replace(string(text), "every: 1m, sampling: poisson", "every: 2s", 1) // as somebody may whom the test waits for
	writeText(t, filepath.Join(m.data, "mesh", everybodyFile), often)
	own := m.status().Hosts[0].Name
	pinged := func(source, target string) func() bool {
		return func() bool {
			for _, r := range m.results() {
				if r.Kind == "ping" && r.Source.Name == source && r.Target.Name == target && r.Metrics[measure.ReceivedPackets] > 0 {
					return true
				}
			}
			return false
		}
	}
	m.eventually("the gateway is pinged", pinged(own, "gateway"))
	calm := func(when string) {
		t.Helper()
		said, err := os.ReadFile(m.path(fmt.Sprint("log", starts)))
		if err != nil || regexp.MustCompile("level=(WARN|ERROR)").Match(said) {
			t.Errorf("%s the controller complains: %v\n%s", when, err, said)
		}
	}
	calm("after the first start")

	line := string(bytes.TrimSpace(m.must("mesh", "invite", "--data", m.data)))
	if !strings.HasPrefix(line, "echo 'pathwise-join:"+m.addresses["controller"]+":") {
		t.Fatalf("the line to paste: %s", line)
	}
	paste := "cd " + m.path("far") + " && PATH=" + filepath.Dir(m.binary) + ":$PATH && " + line + " --name far"
	m.run("far", "sh", "-c", paste)
	m.eventually("this host pings the other", pinged(own, "far"))
	m.eventually("the other pings this host", pinged("far", own))

	// The line is used up: who pastes it again hears so, and the mesh has no host more.
	again := m.run("far", "sh", "-c", "PATH="+filepath.Dir(m.binary)+":$PATH && "+line+" --credentials "+m.path("second")+" 2>"+m.path("said"))
	if status, err := again.Wait(); err != nil || status != exitFailed {
		t.Errorf("a line that was used: exit status %d, %v", status, err)
	}
	said, err := os.ReadFile(m.path("said"))
	if err != nil || !strings.Contains(string(said), "this invitation was used by host far") || bytes.Count(said, []byte("\n")) != 1 {
		t.Errorf("a line that was used: %v, %q", err, said)
	}

	_ = m.serve.Kill()
	_, _ = m.serve.Wait()
	serve("")
	m.eventually("both hosts are there after a restart", func() bool {
		states := map[string]string{}
		for _, h := range m.status().Hosts {
			states[h.Name] = string(h.State)
		}
		return len(states) == 3 && states[own] == string(control.Here) && states["far"] == string(control.Here)
	})
	calm("after a restart")
	if text, err := os.ReadFile(filepath.Join(m.data, "mesh", everybodyFile)); err != nil || string(text) != often {
		t.Errorf("a restart changed what somebody edited: %v\n%s", err, text)
	}
}

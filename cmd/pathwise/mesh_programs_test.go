package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// Debian's iperf3 and ping are tools of a mesh, the former with a server that the target's agent starts for each run; what
// they print becomes metrics that the lab's links agree with, and is kept. A program that a host's owner did not allow is not
// run, and the result says so. Then the mesh file changes, to one with an error and to one without these tools: a test that
// it leaves alone goes on as planned. At the end nothing listens but what the mesh file names, and no secret was ever shown.
func TestMeshOfPrograms(t *testing.T) {
	installed(t, "iperf3", "ping", "ss")
	t.Parallel()
	const every = 5 * time.Second
	m := startMeshLab(t, `
hosts: {controller: {}, a: {}, b: {}}
routers: [r]
links:
  - {between: [controller, r], rate: 100mbit, delay: 1ms}
  - {between: [a, r], rate: 20mbit, delay: 10ms}
  - {between: [b, r], rate: 20mbit, delay: 15ms}
`, `
tools:
  rtt:   {probe: ping, parameters: {count: 3, interval: 200ms}}
  stock:
    command: "iperf3 -c {target} -p {port} -t 1 -C cubic --json"
    server:  "iperf3 -s -1 -p {port}"
    parse:   {throughput_bits_per_second: {json: $.end.sum_received.bits_per_second}}
    needs:   {duration: 3s, bytes: 3MB}
    timeout: 10s
  stockping:
    command: "ping -n -c 3 -i 0.2 {target}"
    parse:
      loss_ratio:      '([\d.]+%) packet loss'
      rtt_min_seconds: '= (?P<value>[\d.]+)/[\d.]+/[\d.]+/[\d.]+ (?P<unit>\w+)'
    exclusive: false
    needs: {duration: 1s, bytes: 1kB}
  forbidden: {command: "cat {target}", parse: {x_count: '(\d+)'}, exclusive: false}
groups: {both: {mesh: all}}
tests:
  - {name: steady, tool: rtt, group: both, schedule: {every: 5s}}
  - {tool: [stock, stockping, forbidden], group: both, schedule: {every: 10s}}
`)
	for _, host := range []string{"a", "b"} {
		m.allowPrograms(host, "iperf3", "ping")
	}
	m.eventually("all agents are here", m.everyoneHere)
	began := time.Now()
	m.eventually("every pair has results of all tools, ok but one", func() bool {
		seen := map[string]bool{}
		for _, r := range m.results() {
			if r.Started.After(began) && (r.Status == measure.StatusOK) == (r.Tool != "forbidden") {
				seen[r.Tool+r.Source.Name] = true
			}
		}
		return len(seen) == 2*4
	})
	m.expectPrograms(began)
	m.expectSteady(every, func() {
		m.edit("tools:\n", "tools:\n  wrong: {probe: pnig}\n")
		m.eventually("status says that the file has an error", func() bool { return strings.Contains(m.statusText(), "pnig") })
		m.edit("  wrong: {probe: pnig}\n", "")
		m.edit("tool: [stock, stockping, forbidden]", "name: more, tool: rtt")
		m.eventually("the new test has results, and the old ones are no more planned", func() bool {
			return slices.ContainsFunc(m.results(), func(r *measure.Result) bool { return r.Test == "more" })
		})
	})
	m.expectNoMoreDoors("a", "b")
	m.expectSecrets()
}

// allowPrograms starts a host's agent anew, with an owner's policy that lets it run these.
func (m *meshLab) allowPrograms(host string, programs ...string) {
	m.t.Helper()
	for i, p := range programs {
		path, err := exec.LookPath(p)
		if err != nil {
			m.t.Fatal(err)
		}
		programs[i] = path
	}
	policy := fmt.Sprintf("classes: {mesh: {programs: [%s]}}\ndefault: mesh\n", strings.Join(programs, ", "))
	if err := os.WriteFile(m.path("policy.yaml"), []byte(policy), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := m.agents[host].Kill(); err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.agents[host].Wait(); err != nil {
		m.t.Fatal(err)
	}
	m.agents[host] = m.start(host, "agent", "--credentials", m.path(host+".credentials"), "--state", m.path("state-"+host),
		"--policy", m.path("policy.yaml"))
}

// expectPrograms holds what programs told against the links, and looks for their output.
func (m *meshLab) expectPrograms(from time.Time) {
	m.t.Helper()
	for _, r := range m.results() {
		switch {
		case r.Started.Before(from):
		case r.Tool == "forbidden":
			if r.Status == measure.StatusOK || !strings.Contains(*r.Error, "/cat") {
				m.t.Errorf("a program that is not allowed: %s, %v", r.Status, r.Error)
			}
		case r.Status != measure.StatusOK:
			m.t.Errorf("%s from %s: %s", r.Tool, r.Source.Name, *r.Error)
		case r.Tool == "stock":
			if rate := r.Metrics[measure.Throughput]; rate <= 0 || rate > 20e6 {
				m.t.Errorf("stock: %.3g bit/s over links of 20 Mbit/s", rate)
			}
		case r.Tool == "stockping":
			// 50 ms of links both ways; ping's own clock reads to the microsecond.
			if rtt := r.Metrics[measure.RTTMin]; rtt < 0.0499 || rtt > 1 || r.Metrics[measure.LossRatio] != 0 {
				m.t.Errorf("stockping: %v s over 50 ms, loss %v", rtt, r.Metrics[measure.LossRatio])
			}
			if r.Samples.Output == nil || !strings.Contains(r.Samples.Output.Stdout, "3 packets transmitted") {
				m.t.Errorf("stockping: what it printed is not kept: %+v", r.Samples)
			}
		}
	}
}

// expectSteady has the test "steady" run each time between both hosts while something happens.
func (m *meshLab) expectSteady(every time.Duration, happen func()) {
	m.t.Helper()
	from := time.Now()
	happen()
	to := time.Now()
	starts := map[string][]time.Time{}
	ids := map[string]bool{}
	m.eventually("a later run of both", func() bool {
		clear(starts)
		clear(ids)
		done := 0
		for _, r := range m.results() {
			if r.Test != "steady" || r.Started.Before(from) {
				continue
			}
			if ids[r.ID] {
				m.t.Errorf("%s is there twice", r.ID)
			}
			ids[r.ID] = true
			starts[r.Source.Name] = append(starts[r.Source.Name], r.Started)
			if r.Started.After(to) {
				done++
			}
		}
		return done >= 2*2 && len(starts) == 2
	})
	for source, times := range starts {
		slices.SortFunc(times, time.Time.Compare)
		for i, at := range times[1:] {
			if off := math.Abs((at.Sub(times[i]) - every).Seconds()); off > 0.9*every.Seconds() {
				m.t.Errorf("steady from %s: %v from one run to the next, want %v", source, at.Sub(times[i]), every)
			}
		}
	}
}

// edit changes the mesh file, as an editor does that writes a new file and gives it the name of the old one.
func (m *meshLab) edit(old, new string) {
	m.t.Helper()
	text, err := os.ReadFile(m.path("mesh.yaml"))
	if err != nil {
		m.t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(old)) {
		m.t.Fatalf("the mesh file has no %q", old)
	}
	text = bytes.Replace(text, []byte(old), []byte(new), 1)
	if err := os.WriteFile(m.path("mesh.new"), text, 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(m.path("mesh.new"), m.path("mesh.yaml")); err != nil {
		m.t.Fatal(err)
	}
}

func (m *meshLab) statusText() string {
	m.t.Helper()
	return string(m.must("mesh", "status", "--data", m.path("data")))
}

// expectNoMoreDoors waits until nothing listens on these hosts, and looks what does on the controller's.
func (m *meshLab) expectNoMoreDoors(hosts ...string) {
	m.t.Helper()
	for _, host := range hosts {
		m.eventually("nothing listens on "+host, func() bool { return len(m.doors(host)) == 0 })
	}
	want := []string{"127.0.0.1:8080", "*:4222"} // controller.listen, and the default of controller.nats.listen
	if got := m.doors("controller"); !slices.Equal(got, want) {
		m.t.Errorf("the controller listens on %q, want %q", got, want)
	}
}

// doors are the sockets of a host that anybody could talk to.
func (m *meshLab) doors(host string) (open []string) {
	m.t.Helper()
	out, err := os.Create(m.path("doors"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer out.Close()
	p, err := m.lab.Start(m.t.Context(), host, lab.Command{Argv: []string{"ss", "-H", "-l", "-n", "-t", "-u"}, Stdout: out})
	if err != nil {
		m.t.Fatal(err)
	}
	if status, err := p.Wait(); err != nil || status != 0 {
		m.t.Fatalf("ss: status %v, %v", status, err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		m.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		// tcp LISTEN 0 4096 127.0.0.1:8080 0.0.0.0:*
		if f := strings.Fields(line); len(f) > 4 {
			open = append(open, f[4])
		}
	}
	return open
}

// expectSecrets looks for the hosts' keys in what was logged, in command lines and in environments.
func (m *meshLab) expectSecrets() {
	m.t.Helper()
	var secrets []string
	for host := range m.agents {
		c, err := fleet.ReadCredentials(m.path(host + ".credentials"))
		if err != nil {
			m.t.Fatal(err)
		}
		secrets = append(secrets, c.Login, c.Sealing)
	}
	var shown []string
	for _, pattern := range []string{"/proc/[0-9]*/cmdline", "/proc/[0-9]*/environ", m.path("*.log")} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			m.t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // the process has ended, or is another's
			}
			if slices.ContainsFunc(secrets, func(s string) bool { return bytes.Contains(text, []byte(s)) }) {
				shown = append(shown, file)
			}
		}
	}
	if len(shown) > 0 {
		m.t.Errorf("a secret is in %q", shown)
	}
	m.expectPrivate()
}

// expectPrivate has the folders of the controller and of the agents open to their user alone.
func (m *meshLab) expectPrivate() {
	m.t.Helper()
	for _, folder := range []string{"data", "state-a", "state-b"} {
		info, err := os.Stat(m.path(folder))
		if err != nil {
			m.t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			m.t.Errorf("%s is open to others: %v", folder, info.Mode())
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/secret"
	"github.com/pathwise-net/pathwise/web"
)

// meshLab is a mesh in a lab: a controller and agents on hosts of their own, as programs that people would start.
type meshLab struct {
	t         *testing.T
	lab       *lab.Lab
	dir       string
	data      string            // the controller's folder, as this process sees it
	addresses map[string]string // IPv4, by host
	binary    string            // of pathwise, as people have it
	ssh       []string          // hosts that are reached by SSH
	serve     *lab.Process
	agents    map[string]*lab.Process
	random    *rand.Rand // of span; nil: nothing was drawn
}

// startMeshLab stands up the lab of a spec, one of whose hosts is called controller, and a mesh of the others on it.
// meshFile is a mesh file without its hosts and its controller; overSSH are hosts that run an SSH server and no agent.
func startMeshLab(t *testing.T, spec, meshFile string, overSSH ...string) *meshLab {
	t.Helper()
	m := newMeshLab(t, spec)
	m.ssh = overSSH
	m.deploy(meshFile, "horizon: 10m")
	m.startSSH()
	m.startServe()
	m.startAgents()
	return m
}

// newMeshLab stands up the lab of a spec, with nothing on its hosts.
func newMeshLab(t *testing.T, spec string) *meshLab {
	t.Helper()
	parsed, err := lab.ParseSpec("mesh lab", []byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	m := &meshLab{t: t, dir: t.TempDir(), addresses: map[string]string{}, agents: map[string]*lab.Process{}}
	m.binary, m.data = builtProgram(t), m.path("data")
	l, err := lab.Start(t.Context(), parsed, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.lab = l
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	state, err := l.State()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range state.Nodes {
		if n.Kind == "host" {
			m.addresses[n.Name] = n.Addresses[0]
		}
	}
	return m
}

// deploy writes the mesh file, with settings of the controller, and makes the agents' keys.
func (m *meshLab) deploy(meshFile, settings string) {
	m.t.Helper()
	file := &strings.Builder{}
	fmt.Fprintf(file, "controller: {data: %s, listen: 127.0.0.1:8080, %s}\nhosts:\n", m.path("data"), settings)
	for name, address := range m.addresses {
		switch {
		case slices.Contains(m.ssh, name):
			fmt.Fprintf(file, "  %s: {address: %s, reach: {ssh: {user: root, key: %s, known_hosts: %s, directory: %s}}}\n",
				name, address, "id", m.path("known_hosts"), m.path("ssh-"+name))
		case name != "controller":
			fmt.Fprintf(file, "  %s: {address: %s, reach: agent}\n", name, address)
		}
	}
	file.WriteString(meshFile)
	if err := os.WriteFile(m.path("mesh.yaml"), []byte(file.String()), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.must("mesh", "deploy", m.path("mesh.yaml"), "--address", m.addresses["controller"], "--out", m.dir, "--data", m.data)
}

// startAgents starts the agent of each host that has one.
func (m *meshLab) startAgents() {
	m.t.Helper()
	for name := range m.addresses {
		if name != "controller" && !slices.Contains(m.ssh, name) {
			m.startAgent(name)
		}
	}
}

// startSSH runs a real SSH server on the hosts that are to be reached so, all with one host key.
func (m *meshLab) startSSH() {
	m.t.Helper()
	if len(m.ssh) == 0 {
		return
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // of sshd's privilege separation
		m.t.Fatal(err)
	}
	for _, key := range []string{"id", "host_key"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", m.path(key)).CombinedOutput(); err != nil {
			m.t.Fatalf("make key: %v\n%s", err, out)
		}
	}
	secrets := string(secret.In(m.path("data")))
	if err := errors.Join(os.MkdirAll(secrets, 0o700), os.Rename(m.path("id"), filepath.Join(secrets, "id"))); err != nil {
		m.t.Fatal(err)
	}
	public, err := os.ReadFile(m.path("host_key.pub"))
	if err != nil {
		m.t.Fatal(err)
	}
	known := &strings.Builder{}
	for _, host := range m.ssh {
		fmt.Fprintf(known, "%s %s", m.addresses[host], public)
	}
	settings := strings.ReplaceAll("Port 22\nHostKey DIR/host_key\nAuthorizedKeysFile DIR/id.pub\nPidFile none\nStrictModes no\n"+
		"UsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n", "DIR", m.dir)
	for name, text := range map[string]string{"known_hosts": known.String(), "sshd_config": settings} {
		if err := os.WriteFile(m.path(name), []byte(text), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	for _, host := range m.ssh {
		m.run(host, "/usr/sbin/sshd", "-D", "-e", "-f", m.path("sshd_config"))
	}
}

func (m *meshLab) path(name string) string { return filepath.Join(m.dir, name) }

func (m *meshLab) startServe() {
	m.serve = m.start("controller", "serve", m.path("mesh.yaml"))
	m.eventually("the controller answers", func() bool { return m.status() != nil })
}

func (m *meshLab) startAgent(host string) {
	m.agents[host] = m.start(host, "agent", "--credentials", m.path(host+".credentials"), "--state", m.path("state-"+host))
}

// start runs pathwise on a host.
func (m *meshLab) start(host string, args ...string) *lab.Process {
	m.t.Helper()
	return m.run(host, append([]string{m.binary}, args...)...)
}

// run runs a program on a host until the test ends. What it says is shown if that fails.
func (m *meshLab) run(host string, argv ...string) *lab.Process {
	m.t.Helper()
	said, err := os.CreateTemp(m.dir, host+"-*.log")
	if err != nil {
		m.t.Fatal(err)
	}
	p, err := m.lab.Start(context.Background(), host, lab.Command{Argv: argv, Stdout: said, Stderr: said})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = p.Kill()
		_, _ = p.Wait()
		if _, err := said.Seek(0, io.SeekStart); err == nil && m.t.Failed() {
			text, _ := io.ReadAll(said)
			m.t.Logf("%s on %s said:\n%s", strings.Join(argv, " "), host, text[max(0, len(text)-shownBytes):])
		}
		_ = said.Close()
	})
	return p
}

// shownBytes of what a program said are shown, the last ones.
const shownBytes = 4000

// must runs pathwise on the controller's machine and returns what it prints.
func (m *meshLab) must(args ...string) []byte {
	m.t.Helper()
	c := exec.Command(m.binary, args...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		m.t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, said.Bytes())
	}
	return out
}

// status is what `mesh status` tells; nil if nobody answers.
func (m *meshLab) status() *web.Status {
	out, err := exec.Command(m.binary, "mesh", "status", "--data", m.data, "--json").Output()
	if err != nil {
		return nil
	}
	status := &web.Status{}
	if err := json.Unmarshal(out, status); err != nil {
		m.t.Fatal(err)
	}
	return status
}

// results are all that the archive holds.
func (m *meshLab) results() []*measure.Result {
	m.t.Helper()
	var all []*measure.Result
	lines := json.NewDecoder(bytes.NewReader(m.must("mesh", "export", "--data", m.data)))
	for lines.More() {
		r := &measure.Result{}
		if err := lines.Decode(r); err != nil {
			m.t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// eventually waits for something that a busy machine may take a minute or two for.
func (m *meshLab) eventually(what string, true func() bool) {
	m.t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for !true() {
		if time.Now().After(deadline) {
			m.t.Fatalf("not in three minutes: %s", what)
		}
		time.Sleep(500 * time.Millisecond) // another process is asked, which tells nobody when it changes
	}
}

// everyoneHere says whether all agents report.
func (m *meshLab) everyoneHere() bool {
	status := m.status()
	return status != nil && allHere(status)
}

func allHere(s *web.Status) bool {
	return !slices.ContainsFunc(s.Hosts, func(h control.Host) bool { return h.State != control.Here })
}

// transfers are the flows of the lab's truth that carried the data of a test that fills a link.
func (m *meshLab) transfers() []record.FlowTruth {
	m.t.Helper()
	truth, err := m.lab.Truth()
	if err != nil {
		m.t.Fatal(err)
	}
	var all []record.FlowTruth
	for _, f := range truth.Flows {
		if f.Protocol != "icmp" && f.TargetPort >= 5201 && f.TargetPort <= 5300 && f.Bytes > 100_000 {
			all = append(all, f)
		}
	}
	return all
}

// expectAlone checks by the lab's truth that no two transfers were on an interface at the same time. Flows of datagrams to one port are one test.
func (m *meshLab) expectAlone(flows []record.FlowTruth) {
	m.t.Helper()
	for i, a := range flows {
		for _, b := range flows[:i] {
			shared := a.Source == b.Source || a.Source == b.Target || a.Target == b.Source || a.Target == b.Target
			one := a.Protocol == "udp" && b.Protocol == "udp" && a.Source == b.Source && a.Target == b.Target && a.TargetPort == b.TargetPort
			if shared && !one && a.FirstSentSeconds < b.LastSentSeconds && b.FirstSentSeconds < a.LastSentSeconds {
				m.t.Errorf("at the same time: %s (%.2f to %.2f s) and %s (%.2f to %.2f s)", a.Name, a.FirstSentSeconds,
					a.LastSentSeconds, b.Name, b.FirstSentSeconds, b.LastSentSeconds)
			}
		}
	}
}

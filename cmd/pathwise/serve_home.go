package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/sock"
)

// home is the mesh that `pathwise serve` runs where nobody wrote a mesh file: this host, its gateway, and hosts that joined by an invitation.
// All of it is in one folder, the controller's:
//
//	mesh/controller.yaml mesh/here.yaml mesh/everybody.yaml   what is written here; the user's from the first edit on
//	mesh/host-NAME.yaml                                       one for each host that joined
//	home.json                                                 homeState
//	agent/                                                    of this host's own agent
type home struct {
	folder string
	state  homeState
}

// homeState is what a restart needs to know.
type homeState struct {
	Schema  string            `json:"schema"`  // pathwise.home/1
	Host    string            `json:"host"`    // the name of this host in the mesh
	Listen  string            `json:"listen"`  // HOST:PORT of the pages
	Reach   netip.AddrPort    `json:"reach"`   // where hosts reach the controller
	Written map[string]string `json:"written"` // SHA-256 of each file of the mesh as it was written here last, by name
}

// longestState in bytes is above a few names and hashes.
const longestState = 64 << 10

// machine is what a mesh of this host alone is made of.
type machine struct {
	name             string
	address, gateway netip.Addr // invalid gateway: it has none
}

// thisMachine is as `mesh init` finds it.
func thisMachine() machine {
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	m := machine{hostName(name), netip.AddrFrom4([4]byte{127, 0, 0, 1}), defaultGateway()}
	if m.gateway.IsValid() {
		if from, err := sock.Source(m.gateway); err == nil {
			m.address = from
		}
	}
	return m
}

// homeFolder is where a mesh that nobody wrote is kept, as the XDG Base Directory Specification has it for state.
func homeFolder() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/pathwise", nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "pathwise"), nil
	}
	own, err := os.UserHomeDir()
	if err != nil {
		return "", input.Errorf("--data: give a folder for keys, messages and archive: %w", err)
	}
	return filepath.Join(own, ".local/state/pathwise"), nil
}

// openHome makes the mesh of this host in a folder, or brings up to date what nobody edited in one that is there. An address to reach the
// controller by is kept; an invalid one leaves what was.
func openHome(folder string, here machine, reach netip.AddrPort) (_ *home, news []string, err error) {
	if folder == "" {
		if folder, err = homeFolder(); err != nil {
			return nil, nil, err
		}
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, nil, badFlag("data", err)
	}
	h := &home{folder: folder}
	if err := h.read(); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(h.mesh(), 0o700); err != nil {
		return nil, nil, badFlag("data", err)
	}
	if h.state.Host == "" {
		h.state.Host = here.name[:min(len(here.name), longestHostName)]
		h.state.Listen = unusedPort(netip.MustParseAddrPort("127.0.0.1:8080")).String()
	}
	switch {
	case reach.IsValid() && reach.Port() == 0 && reach.Addr() == h.state.Reach.Addr():
	case reach.IsValid() && reach.Port() == 0:
		h.state.Reach = unusedPort(netip.AddrPortFrom(reach.Addr(), natsPort))
	case reach.IsValid():
		h.state.Reach = reach
	case !h.state.Reach.IsValid():
		h.state.Reach = unusedPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), natsPort))
	}
	here.name = h.state.Host
	news, err = h.write(here, reach.IsValid())
	return h, news, err
}

// natsPort is that of NATS, which agents come to as a rule.
const natsPort = 4222

// unusedPort is an address with its usual port, or any other if that is taken.
func unusedPort(usual netip.AddrPort) netip.AddrPort {
	for _, port := range []uint16{usual.Port(), 0} {
		l, err := net.Listen("tcp", netip.AddrPortFrom(usual.Addr(), port).String())
		if err != nil {
			continue
		}
		at := l.Addr().(*net.TCPAddr).Port
		l.Close()
		return netip.AddrPortFrom(usual.Addr(), uint16(at))
	}
	return usual // and whoever listens there says why it cannot
}

func (h *home) mesh() string { return filepath.Join(h.folder, "mesh") }

// read reads the state. A folder of a controller that has none is of somebody's mesh file.
func (h *home) read() error {
	h.state = homeState{Schema: "pathwise.home/1", Written: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(h.folder, "home.json"))
	switch {
	case err == nil:
		if err := document.JSON(text, longestState, &h.state); err != nil || h.state.Host == "" || h.state.Written == nil {
			return input.Errorf("%s: it cannot be read; put it back from a backup, or name another folder with --data",
				filepath.Join(h.folder, "home.json"))
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return badFlag("data", err)
	}
	if _, err := os.Lstat(filepath.Join(h.folder, "keys")); err == nil {
		return input.Errorf("%s: it is the folder of a controller with a mesh file: name that, `pathwise serve FILE`, or another folder with --data",
			h.folder)
	}
	return nil
}

// write writes the files of the mesh that are to be other ones than last time and were not edited, then the state. What it cannot bring up
// to date, because somebody edited it, is in news; where the caller insists on the controller's file, that is an error.
func (h *home) write(here machine, insist bool) (news []string, err error) {
	files := h.files(here)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		want := sum([]byte(files[name]))
		last, known := h.state.Written[name]
		if want == last {
			continue // and what somebody made of it since is theirs
		}
		path := filepath.Join(h.mesh(), name)
		text, err := os.ReadFile(path)
		switch {
		case err == nil && sum(text) == want:
		case errors.Is(err, fs.ErrNotExist) && !known, err == nil && known && sum(text) == last:
			if err := durable.Write(path, []byte(files[name])); err != nil {
				return nil, input.Errorf("write mesh file: %w", err)
			}
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, input.Errorf("%w", err)
		case insist && name == controllerFile:
			return nil, input.Errorf("--reach: %s was edited: set controller: {nats: {listen: \"%s\"}} there, and start without --reach", path, h.state.Reach)
		default:
			news = append(news, fmt.Sprintf("%s was edited, so it stays; this machine's address is %s now, and its gateway %s",
				path, here.address, orNone(here.gateway)))
			continue
		}
		h.state.Written[name] = want
	}
	text, err := json.MarshalIndent(h.state, "", "  ")
	if err == nil {
		err = durable.Write(filepath.Join(h.folder, "home.json"), append(text, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("write home.json: %w", err)
	}
	return news, nil
}

const (
	controllerFile = "controller.yaml"
	hereFile       = "here.yaml"
	everybodyFile  = "everybody.yaml"
)

// files are those of the mesh that are made of this machine alone.
func (h *home) files(here machine) map[string]string {
	head := "# Written by `pathwise serve`, which brings it up to date until somebody edits it: see docs/home.md.\n"
	var b strings.Builder
	fmt.Fprintf(&b, head+"hosts:\n  %s: {address: \"%s\"} # this host\n", here.name, here.address)
	if here.gateway.IsValid() {
		fmt.Fprintf(&b, "  gateway: {address: \"%s\", reach: responder} # it answers pings, and runs nothing of ours\n", here.gateway)
	}
	fmt.Fprintf(&b, "tools:\n  rtt: {probe: ping, parameters: {count: 10, interval: 200ms}}\n  load: {probe: host}\n"+
		"groups:\n  %s-itself: {list: [%s]}\ntests:\n  - {tool: load, group: %s-itself, schedule: {every: 1m}}\n", here.name, here.name, here.name)
	files := map[string]string{
		hereFile: b.String(),
		controllerFile: fmt.Sprintf(head+"controller: {data: %s, listen: \"%s\", nats: {listen: \"%s\"}}\n",
			strconv.Quote(h.folder), h.state.Listen, h.state.Reach),
	}
	if here.gateway.IsValid() {
		files[everybodyFile] = everybody // it takes two
	} else if _, before := h.state.Written[hereFile]; before {
		delete(files, hereFile) // it is off its network for now
	}
	return files
}

// everybody has all hosts ping each other.
const everybody = "groups:\n  everybody: {mesh: all}\ntests:\n  - {tool: rtt, group: everybody, schedule: {every: 1m, sampling: poisson}}\n"

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

func orNone(a netip.Addr) string {
	if !a.IsValid() {
		return "none"
	}
	return a.String()
}

// credentials are those of this host's own agent, for which is what is sent to it from the start; nil where h is.
func (h *home) credentials(m *messaging) (*fleet.Credentials, error) {
	if h == nil {
		return nil, nil
	}
	return m.issue(h.state.Host, fleet.Reach{})
}

// Package config reads the mesh file: YAML, one file or a folder of them, to a checked Mesh.
//
// It names every error of all files in one go, each with its place and with what would be right. What a Mesh holds is
// resolved: sites, labels and groups are lists of hosts, a named schedule is the schedule, a command is a list of
// words. Questions that the rest of the house has (which pairs a test has, what to run between two hosts, what that
// adds up to in a day) are methods of Mesh, pure and without a clock.
//
// It plans nothing, starts nothing and opens nothing but the files it is given. Whether a kind of probe exists, and
// whether its parameters are right, is for who knows the probes: a Checker.
//
//	files -> node (places, errors) -> sections in order of need -> Mesh -> Pairs, Task, Estimate, Fingerprint
//
// The file format is in docs/mesh-file.md.
package config

import (
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/parse"
)

// Mesh is a checked mesh file. It is read by many and changed by nobody. Hosts, and whatever else speaks of them by
// number, go by their index in Hosts.
type Mesh struct {
	Hosts      []Host
	Sites      []Site
	Tools      []Tool
	Groups     []Group
	Phases     []Phase
	Tests      []Test
	Exclusions []Exclusion
	Controller Controller

	hosts, sites, tools, groups, phases, tests map[string]int // index by name

	outward map[string]string // what stands under each key that leads out of the controller's machine, by path
}

func newMesh() *Mesh {
	return &Mesh{
		hosts: map[string]int{}, sites: map[string]int{}, tools: map[string]int{}, groups: map[string]int{},
		phases: map[string]int{}, tests: map[string]int{}, Controller: defaultController(), outward: map[string]string{},
	}
}

// Host is a machine that measures, is measured, or both.
type Host struct {
	Name       string
	Interfaces []Interface // at least one; the first is the one that is meant where nothing else is said
	Reach      Reach
	SSH        *SSH     // of ReachSSH
	Site       string   // "" if it is of none
	Labels     []string // sorted
	Offline    bool     // takes no part for now
	Ports      Ports
	Budget     Budget // its own, and what budgets say of it: the least of each
	// Overrides are this host's own parameters and values of tools, by tool: see Mesh.Task.
	Overrides map[string]map[string]any

	options []option // see Mesh.options
	site    int      // index of Site; -1: of none
}

// Reach is how the controller gets a host to do something.
type Reach string

const (
	ReachAgent     Reach = "agent"     // an agent runs there and dials the controller
	ReachSSH       Reach = "ssh"       // the controller starts an agent there over SSH
	ReachResponder Reach = "responder" // it only answers: it is the target of tests and never their source
)

// Interface is one attachment of a host to the network.
type Interface struct {
	Name          string   // "" if the file gives addresses without interfaces
	Addresses     []string // at least one: IPv4, IPv6, or a host name
	BitsPerSecond float64  // 0: not known
}

// SSH is how to log in to a host. What is empty is for ssh's own configuration to say.
type SSH struct {
	Address    string // "": the host's first
	Port       int    // 0: 22
	User       string
	Key        string // file of the private key
	KnownHosts string // file of known hosts; there is no way to leave the check out
	Binary     string // of pathwise on the host; "": the controller brings one
	Directory  string // where on the host the agent keeps its things; "": a hidden one in the user's home
	Leave      bool   // leave the binary and the spool there for the next time; false: nothing is left behind
}

// Ports are where a host listens for tests.
type Ports struct {
	First, Last int            // an agent opens listeners in this range only
	Fixed       map[string]int // of a responder: its port by kind of responder, such as iperf3, or by tool that is a command
}

// Site is what several hosts share: a name for the map, and mostly a link.
type Site struct {
	Name          string
	BitsPerSecond float64 // of its link to the others; 0: not known
	Labels        []string
	Budget        Budget // for what crosses its link: of all its hosts together
	Hosts         []int
}

// Budget is what measuring may use of something. What is zero is not limited.
type Budget struct {
	BytesPerDay   float64 // sent and received, on the wire
	BitsPerSecond float64 // at any one time
	Share         float64 // of the link's rate, on average over a day: 0 to 1
}

// Tool is a way to measure, with its parameters: a probe, or any program.
type Tool struct {
	Name       string
	Kind       string         // of probe; KindCommand for a program
	Itself     bool           // the probe measures the host that it runs on, and has no target
	Parameters map[string]any // of the probe, as encoding/json has them: string, float64, bool, []any, map[string]any
	Command    *Command       // of KindCommand
	Timeout    time.Duration  // after which a run is ended; 0: when the probe says it is over; of a command never 0
	Exclusive  *bool          // whether a run needs both ends' interfaces alone; nil: what the probe says
	Needs      Needs
	Offline    bool
}

// KindCommand is the kind of Task that runs a program.
const KindCommand = "command"

// Command is a program to run, and how to read what it prints.
type Command struct {
	Words  []string // with placeholders; no shell sees them
	Server []string // what the target runs meanwhile; nil: nothing
	Values map[string]string
	Parse  []parse.Rule

	rules any // Parse as encoding/json has it
}

// Needs is what the file says that a run of a tool needs, for what the probe cannot know. What is zero is not said.
type Needs struct {
	Duration      time.Duration
	Bytes         float64 // on the wire, both directions
	BitsPerSecond float64 // while it lasts, at most
}

// Phase is a set of tests that run together, at their own frequency, in a fresh random order each time.
type Phase struct {
	Name     string
	Schedule Schedule
}

// Test runs a tool between the pairs of a group, on a schedule.
type Test struct {
	Name      string
	Group     string
	Tool      string
	Schedule  Schedule // of its phase, if Schedule.Phase names one
	Interface string   // at both ends; "": as the group says, or the first
	Family    int      // 4 or 6; 0: any
	Offline   bool

	always, timed []*Exclusion // see Mesh.bind
}

// Host returns the index of the host of that name.
func (m *Mesh) Host(name string) (int, bool) { i, ok := m.hosts[name]; return i, ok }

// Site returns the index of the site of that name.
func (m *Mesh) Site(name string) (int, bool) { i, ok := m.sites[name]; return i, ok }

// Tool returns the tool of that name, or nil.
func (m *Mesh) Tool(name string) *Tool { return at(m.Tools, m.tools, name) }

// Group returns the group of that name, or nil.
func (m *Mesh) Group(name string) *Group { return at(m.Groups, m.groups, name) }

// Test returns the test of that name, or nil.
func (m *Mesh) Test(name string) *Test { return at(m.Tests, m.tests, name) }

// Phase returns the phase of that name, or nil.
func (m *Mesh) Phase(name string) *Phase { return at(m.Phases, m.phases, name) }

func at[T any](all []T, index map[string]int, name string) *T {
	if i, ok := index[name]; ok {
		return &all[i]
	}
	return nil
}

// Notes are what the mesh file says to no effect, one line each: it is read all the same, since earlier releases asked for it.
func (m *Mesh) Notes() []string {
	notes := []string{}
	if m.Controller.NATS.Replicas > 0 {
		notes = append(notes, "controller.nats.replicas has no effect: nothing is kept in the cluster any more")
	}
	return notes
}

// Secrets returns the names of the files of secrets, by the keys that name them.
func (m *Mesh) Secrets() map[string]string {
	c := &m.Controller
	all := map[string]string{"controller.tls.key": c.TLS.Key, "controller.nats.key_file": c.NATS.KeyFile,
		"controller.nats.credentials_file": c.NATS.Credentials, "controller.nats.nkey_file": c.NATS.Nkey}
	for i, w := range c.RemoteWrite {
		at := fmt.Sprintf("controller.remote_write[%d].", i)
		all[at+"password_file"], all[at+"token_file"] = w.Password, w.TokenFile
	}
	for _, h := range m.Hosts {
		if h.SSH != nil {
			all["hosts."+h.Name+".reach.ssh.key"] = h.SSH.Key
		}
	}
	for key, name := range all {
		if name == "" {
			delete(all, key)
		}
	}
	return all
}

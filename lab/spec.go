package lab

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/middlebox"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/traffic"
)

// Spec describes a lab, as the YAML file does: see ParseSpec. The zero value has no hosts and is invalid.
type Spec struct {
	Seed     uint64              `yaml:"seed"`    // of everything random; the same seed and input give the same drops
	Offload  bool                `yaml:"offload"` // hosts hand over and take super-packets, as with segmentation offload
	Hosts    map[string]Host     `yaml:"hosts"`
	Routers  Routers             `yaml:"routers"`
	Links    []Link              `yaml:"links"`
	Routes   []Route             `yaml:"routes"`   // where the way is not the shortest
	Reroute  *notation.Span      `yaml:"reroute"`  // how long after a link went down routers go round it; nil: never
	Groups   map[string][]string `yaml:"groups"`   // multicast: the members of each group, by its address
	Traffic  []traffic.Config    `yaml:"traffic"`  // cross traffic
	Timeline []Change            `yaml:"timeline"` // what changes, and when, counted from when the lab stands
}

// Host is an end system: a network namespace.
type Host struct {
	Sysctl map[string]string `yaml:"sysctl"` // such as net.ipv4.tcp_rmem; over the lab's own defaults
	// Clock is the most that programs of this host are told its clock is off, as one that is kept; 0: they are told what the kernel says of it.
	// Hosts of a lab share one clock, so that none of them is off from another by anything.
	Clock notation.Span `yaml:"clock"`
}

// Router forwards packets and may do more to them.
type Router struct {
	Name             string     `yaml:"-"`
	Balance          string     `yaml:"balance"` // over equally short ways: "" or first, flow, packet
	Answers          `yaml:"-"` // its keys stand beside balance
	middlebox.Config `yaml:"-"` // so do its
}

// Routers are written as a list of names, or as a mapping of names to what they do besides routing. Their order is the
// file's.
type Routers []Router

// Link joins two nodes. The shape that stands on the link itself holds both ways; Forward (from the first node of
// Between to the second) and Reverse override it one way.
type Link struct {
	Between    []string `yaml:"between"`
	link.Shape `yaml:",inline"`
	Forward    *link.Shape `yaml:"forward"`
	Reverse    *link.Shape `yaml:"reverse"`
}

// Route sends what a node has for another one by way of a neighbour, over the first link to it or the one given.
type Route struct {
	At   string `yaml:"at"`
	To   string `yaml:"to"`
	Via  string `yaml:"via"`
	Link int    `yaml:"link"` // which of several links to that neighbour, from 1; 0: the first
}

// Change is what the timeline does at a time: to the links between two nodes, to a route, or to both.
type Change struct {
	At         notation.Span `yaml:"at"`
	Between    []string      `yaml:"between"`
	link.Shape `yaml:",inline"`
	Forward    *link.Shape `yaml:"forward"`
	Reverse    *link.Shape `yaml:"reverse"`
	Route      *Route      `yaml:"route"`
}

// The parts of a shape that programs set, by their names in package link.
type (
	Shape = link.Shape
	Rate  = notation.Rate
	Delay = notation.Delay
	Ratio = notation.Ratio
	// SpecError says what is wrong with a lab file: where, which value, and what would be right.
	SpecError = document.Error
)

func specErrorf(format string, args ...any) error { return document.Errorf(format, args...) }

// UnmarshalYAML reads the list or the mapping.
func (r *Routers) UnmarshalYAML(node ast.Node) error {
	switch n := node.(type) {
	case *ast.SequenceNode:
		var names []string
		if err := document.Decode(n, &names); err != nil {
			return err
		}
		for _, name := range names {
			*r = append(*r, Router{Name: name})
		}
		return nil
	case *ast.MappingNode:
		for _, entry := range n.Values {
			if err := r.add(entry); err != nil {
				return err
			}
		}
		return nil
	case *ast.MappingValueNode:
		return r.add(n)
	}
	return document.At(node, fmt.Errorf("want a list of names, or a mapping of names to settings"))
}

// UnmarshalYAML reads the router's own keys, and beside them those of its middlebox.
func (r *Router) UnmarshalYAML(node ast.Node) error {
	if _, ok := node.(ast.MapNode); !ok {
		return document.At(node, fmt.Errorf("want settings, such as {mss: 1360}, or {}"))
	}
	var all struct {
		Balance        string `yaml:"balance"`
		Answers        `yaml:",inline"`
		middlebox.Keys `yaml:",inline"`
	}
	if err := document.Decode(node, &all); err != nil {
		return err
	}
	r.Balance, r.Answers, r.Config = all.Balance, all.Answers, middlebox.Config(all.Keys)
	return document.AtKey(node, r.Config.Validate())
}

func (r *Routers) add(entry *ast.MappingValueNode) error {
	name, ok := document.Scalar(entry.Key)
	if !ok {
		return document.At(entry, fmt.Errorf("want a name"))
	}
	router := Router{}
	if entry.Value.Type() != ast.NullType {
		if err := document.Decode(entry.Value, &router); err != nil {
			return err
		}
	}
	router.Name = name
	*r = append(*r, router)
	return nil
}

// nodeName is what a host or router may be called: a label that is also fit for /etc/hosts.
var nodeName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)

// sysctlName is what may stand under sysctl: only the network's, and no way out of /proc/sys.
var sysctlName = regexp.MustCompile(`^net(\.[a-zA-Z0-9_-]+)+$`)

// maxLinks bounds what a lab takes: each has 100 kB of counters, so 400 MB in all.
const maxLinks = 4096

// Validate returns the first thing that is wrong with the specification as a whole, as a *SpecError.
func (s *Spec) Validate() error {
	known, err := s.nodes()
	if err != nil {
		return err
	}
	if len(s.Links) > maxLinks {
		return document.About("links", "links: %d: want at most %d", len(s.Links), maxLinks)
	}
	for i := range s.Links {
		if err := s.Links[i].validate(known); err != nil {
			return document.About(fmt.Sprintf("links[%d]", i), "links: number %d: %v", i+1, err)
		}
	}
	for i := range s.Routes {
		if err := s.Routes[i].validate(s, known); err != nil {
			return document.About(fmt.Sprintf("routes[%d]", i), "routes: number %d: %v", i+1, err)
		}
	}
	if err := s.validateGroups(known); err != nil {
		return err
	}
	for i := range s.Traffic {
		if err := s.validateTraffic(&s.Traffic[i], known); err != nil {
			return document.About(fmt.Sprintf("traffic[%d]", i), "traffic: number %d: %v", i+1, err)
		}
	}
	for i := range s.Timeline {
		if err := s.Timeline[i].validate(s, known); err != nil {
			return document.About(fmt.Sprintf("timeline[%d]", i), "timeline: number %d: %v", i+1, err)
		}
	}
	return s.validateChanges()
}

// nodes returns each node's kind, "host" or "router".
func (s *Spec) nodes() (map[string]string, error) {
	if len(s.Hosts) == 0 {
		return nil, document.About("hosts", "hosts: none; name at least one, such as `hosts: {a: {}}`")
	}
	known := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Hosts)) {
		if !nodeName.MatchString(name) || name == "localhost" {
			return nil, document.About("hosts", "hosts: %q: want letters, digits and inner hyphens, 63 at most", name)
		}
		known[name] = "host"
		if c := s.Hosts[name].Clock; c < 0 || c > notation.Span(notation.MaxDelay) {
			return nil, document.About("hosts."+name, "hosts: %s: clock: %v: want the most that it may be off, 1h at most, such as 100us", name, c)
		}
		for key := range s.Hosts[name].Sysctl {
			if !sysctlName.MatchString(key) {
				return nil, document.About("hosts."+name, "hosts: %s: sysctl: %q: want a name below net, such as net.ipv4.tcp_rmem", name, key)
			}
		}
	}
	for i := range s.Routers {
		r := &s.Routers[i]
		if !nodeName.MatchString(r.Name) || r.Name == "localhost" {
			return nil, document.About("routers", "routers: %q: want letters, digits and inner hyphens, 63 at most", r.Name)
		}
		if kind := known[r.Name]; kind != "" {
			return nil, document.About("routers", "routers: %q: is a %s already; give it another name", r.Name, kind)
		}
		known[r.Name] = "router"
	}
	for i := range s.Routers {
		if err := s.validateRouter(&s.Routers[i]); err != nil {
			return nil, document.About("routers."+s.Routers[i].Name, "routers: %s: %v", s.Routers[i].Name, err)
		}
	}
	return known, nil
}

func (s *Spec) validateRouter(r *Router) error {
	switch r.Balance {
	case "", balanceFirst, balanceFlow, balancePacket:
	default:
		return fmt.Errorf("balance: %q: want first, flow or packet", r.Balance)
	}
	return cmp.Or(r.Answers.validate(), r.Config.Validate())
}

// The ways of a router to choose among equally short ones.
const (
	balanceFirst  = "first"
	balanceFlow   = "flow"
	balancePacket = "packet"
)

package lab

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
)

// Spec describes a lab, as the YAML file does: see ParseSpec. The zero value has no hosts and is invalid.
type Spec struct {
	Seed    uint64          `yaml:"seed"` // of everything random; the same seed and input give the same drops
	Hosts   map[string]Host `yaml:"hosts"`
	Routers []string        `yaml:"routers"`
	Links   []Link          `yaml:"links"`
}

// Host is an end system: a network namespace.
type Host struct {
	Sysctl map[string]string `yaml:"sysctl"` // such as net.ipv4.tcp_rmem; over the lab's own defaults
}

// Link joins two nodes. The shape that stands on the link itself holds both ways; Forward (from the first node of
// Between to the second) and Reverse override it one way.
type Link struct {
	Between []string `yaml:"between"`
	Shape   `yaml:",inline"`
	Forward *Shape `yaml:"forward"`
	Reverse *Shape `yaml:"reverse"`
}

// Shape is what one direction of a link does to packets. A nil field is not set: it takes the default, or leaves
// alone what Lab.Set changes.
type Shape struct {
	Rate  *Rate  `yaml:"rate" json:"rate,omitempty"`   // line rate, Ethernet framing counted; default: no limit
	Delay *Delay `yaml:"delay" json:"delay,omitempty"` // propagation; default 0
	Loss  *Ratio `yaml:"loss" json:"loss,omitempty"`   // independent, of each packet on the wire; default 0
	Queue *Queue `yaml:"queue" json:"queue,omitempty"` // what may wait for the wire; default 100 ms of the rate
}

// Rate is in bit/s, Delay in Go's duration, Ratio from 0 to 1.
type (
	Rate  float64
	Delay time.Duration
	Ratio float64
)

// Queue limits what waits for a link, in packets or in bytes. Tail drop: what comes to a full queue is lost.
type Queue struct {
	Packets int   `json:"packets,omitempty"`
	Bytes   int64 `json:"bytes,omitempty"`
}

// over returns s with the fields that top sets replaced.
func (s Shape) over(top *Shape) Shape {
	if top == nil {
		return s
	}
	if top.Rate != nil {
		s.Rate = top.Rate
	}
	if top.Delay != nil {
		s.Delay = top.Delay
	}
	if top.Loss != nil {
		s.Loss = top.Loss
	}
	if top.Queue != nil {
		s.Queue = top.Queue
	}
	return s
}

// SpecError says what is wrong with a lab file: where, which value, and what would be right.
type SpecError struct {
	File         string // empty when the specification did not come from a file
	Line, Column int    // 0 when the fault has no one place
	Problem      string
}

func (e *SpecError) Error() string {
	switch {
	case e.File != "" && e.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
	case e.Line > 0:
		return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Problem)
	case e.File != "":
		return e.File + ": " + e.Problem
	}
	return e.Problem
}

// BadInput marks the error as the caller's to mend.
func (e *SpecError) BadInput() bool { return true }

func specErrorf(format string, args ...any) error {
	return &SpecError{Problem: fmt.Sprintf(format, args...)}
}

// nodeName is what a host or router may be called: a label that is also fit for /etc/hosts.
var nodeName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)

// sysctlName is what may stand under sysctl: only the network's, and no way out of /proc/sys.
var sysctlName = regexp.MustCompile(`^net(\.[a-zA-Z0-9_-]+)+$`)

// maxLinks is what the address plan 10.x.y.0/24 numbers.
const maxLinks = 1 << 16

// Validate returns the first thing that is wrong with the specification as a whole, as a *SpecError.
func (s *Spec) Validate() error {
	if len(s.Hosts) == 0 {
		return specErrorf("hosts: none; name at least one, such as `hosts: {a: {}}`")
	}
	known := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Hosts)) {
		if !nodeName.MatchString(name) || name == "localhost" {
			return specErrorf("hosts: %q: want letters, digits and inner hyphens, 63 at most", name)
		}
		known[name] = "host"
		for key := range s.Hosts[name].Sysctl {
			if !sysctlName.MatchString(key) {
				return specErrorf("hosts: %s: sysctl: %q: want a name below net, such as net.ipv4.tcp_rmem", name, key)
			}
		}
	}
	for _, name := range s.Routers {
		if !nodeName.MatchString(name) || name == "localhost" {
			return specErrorf("routers: %q: want letters, digits and inner hyphens, 63 at most", name)
		}
		if kind := known[name]; kind != "" {
			return specErrorf("routers: %q: is a %s already; give it another name", name, kind)
		}
		known[name] = "router"
	}
	if len(s.Links) > maxLinks {
		return specErrorf("links: %d: want at most %d", len(s.Links), maxLinks)
	}
	for i, l := range s.Links {
		if err := l.validate(known); err != nil {
			return specErrorf("links: number %d: %v", i+1, err)
		}
	}
	return nil
}

func (l *Link) validate(known map[string]string) error {
	if len(l.Between) != 2 {
		return fmt.Errorf("between: %d nodes; want two, such as [a, b]", len(l.Between))
	}
	for _, name := range l.Between {
		if known[name] == "" {
			return fmt.Errorf("between: %q: no such host or router; name it under hosts or routers", name)
		}
	}
	if l.Between[0] == l.Between[1] {
		return fmt.Errorf("between: %q twice; a link joins two nodes", l.Between[0])
	}
	return nil
}

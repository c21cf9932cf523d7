// Package traffic is a lab's cross traffic by name: what load somebody else puts on a path, and when each of its packets
// goes. A Config is what a lab file says; a Generator tells, packet by packet, the virtual time and the size. It writes no
// header, opens no socket and reads no clock; one seed gives one sequence.
package traffic

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// The kinds of traffic.
const (
	Constant = "constant" // packets that follow each other as on a line of the given rate: equal sizes, equal gaps
	Poisson  = "poisson"  // exponential gaps, independent of the sizes
	Pareto   = "pareto"   // many sources that are on and off in turn for Pareto-distributed times: self-similar in sum
	TCP      = "tcp"      // real TCP flows between two hosts; only their times and sizes are planned here
)

// Config is one entry of a lab file's `traffic`. Rates count IP bytes (header included, link framing not), and sizes are
// lengths of IP packets. Start and Stop are virtual times of the lab: the first packet goes at or after Start, the last
// before Stop.
type Config struct {
	Name  string        `yaml:"name" json:"name,omitempty"` // for people; "" is none
	From  string        `yaml:"from" json:"from"`           // a host or router of the lab
	To    string        `yaml:"to" json:"to"`
	Kind  string        `yaml:"kind" json:"kind"`
	Start notation.Span `yaml:"start" json:"start,omitempty"` // 0: from the beginning
	Stop  notation.Span `yaml:"stop" json:"stop,omitempty"`   // 0: never

	// DSCP of every packet; 0 is best effort.
	DSCP packet.Codepoint `yaml:"dscp" json:"dscp,omitempty"`

	// Of all kinds but tcp.

	// Broadcast sends each packet to everybody on the link to To, a neighbour: a host's kernel receives it, and routers pass none on.
	Broadcast bool `yaml:"broadcast" json:"broadcast,omitempty"`

	Rate  notation.Rate `yaml:"rate" json:"rate,omitempty"`   // mean; may be left out where Peak is given
	Size  notation.Size `yaml:"size" json:"size,omitempty"`   // 0: DefaultSize, or what Sizes says
	Sizes Sizes         `yaml:"sizes" json:"sizes,omitempty"` // a mix of sizes in place of one

	// Of pareto. With Peak, Rate follows from it, and the other way round: rate = sources * peak * on / (on + off).
	On      notation.Span  `yaml:"on" json:"on,omitempty"`           // mean time; 0: DefaultOn
	Off     notation.Span  `yaml:"off" json:"off,omitempty"`         // mean time; 0: DefaultOff
	Shape   float64        `yaml:"shape" json:"shape,omitempty"`     // Pareto's alpha; 0: DefaultShape
	Sources notation.Count `yaml:"sources" json:"sources,omitempty"` // 0: DefaultSources
	Peak    notation.Rate  `yaml:"peak" json:"peak,omitempty"`       // rate of one source while it is on

	// Of tcp.
	Flows notation.Count `yaml:"flows" json:"flows,omitempty"` // that begin together at Start; 0: one
	CC    string         `yaml:"cc" json:"cc,omitempty"`       // congestion control; "": the host's
	Bytes notation.Size  `yaml:"bytes" json:"bytes,omitempty"` // what a flow sends; 0: as much as it can until Stop
	Every notation.Span  `yaml:"every" json:"every,omitempty"` // mean of the exponential gaps after which one more flow begins; 0: no more
}

// What zero values stand for.
const (
	DefaultSize    = 1500  // bytes; a full packet on Ethernet
	DefaultOn      = 500e6 // ns
	DefaultOff     = 1e9   // ns
	DefaultShape   = 1.5   // H = 0.75, in the middle of what Willinger et al. (1997) found in Ethernet traffic
	DefaultSources = 10
)

// Bounds of a Config. They keep what a lab file can ask for within what a lab can do.
const (
	MinSize    = 28        // bytes; IPv4 and UDP headers. The lab pads to the 48 of IPv6 where that is spoken
	MaxSize    = 1<<16 - 1 // bytes; the largest IP packet
	maxRate    = 1e12      // bit/s
	maxSources = 10000
	maxShape   = 10  // above, Pareto times are all but constant
	maxGap     = 100 // between two packets of a source, in its shortest on-times
	maxFlows   = 1000
	minEvery   = 1e6 // ns; a thousand new flows a second
)

// algorithm is what may be a congestion control's name: at most TCP_CA_NAME_MAX-1 characters.
var algorithm = regexp.MustCompile(`^[a-z0-9_-]{1,15}$`)

// Validate returns the first fault, in one line that names the key, the value and what would be right. That From and To
// exist is for the lab to check.
func (c *Config) Validate() error {
	switch {
	case !slices.Contains([]string{Constant, Poisson, Pareto, TCP}, c.Kind):
		return document.Errorf("kind: %q: want constant, poisson, pareto or tcp", c.Kind)
	case strings.ContainsFunc(c.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(c.Name) > 100:
		return document.Errorf("name: %q: want at most 100 printable characters", c.Name)
	case c.From == "":
		return document.Errorf("from: missing; name the host or router that sends, such as from: a")
	case c.To == "":
		return document.Errorf("to: missing; name the host or router that receives, such as to: b")
	case c.From == c.To:
		return document.Errorf("to: %q: want another node than from", c.To)
	case c.Start < 0 || c.Stop < 0:
		return document.Errorf("start, stop: %v, %v: want times of zero or more", c.Start, c.Stop)
	case c.Stop > 0 && c.Stop <= c.Start:
		return document.Errorf("stop: %v: want a time after start, which is %v", c.Stop, c.Start)
	}
	if key := c.misplaced(); key != "" {
		return document.Errorf("%s: not a key of kind %s", key, c.Kind)
	}
	if c.Kind == TCP {
		return c.validateTCP()
	}
	return c.validatePackets()
}

// misplaced names a key that is set and means nothing to the kind.
func (c *Config) misplaced() string {
	keys := []struct {
		name string
		set  bool
		of   []string
	}{
		{"broadcast", c.Broadcast, []string{Constant, Poisson, Pareto}},
		{"rate", c.Rate != 0, []string{Constant, Poisson, Pareto}},
		{"size", c.Size != 0, []string{Constant, Poisson, Pareto}},
		{"sizes", c.Sizes != nil, []string{Constant, Poisson, Pareto}},
		{"on", c.On != 0, []string{Pareto}},
		{"off", c.Off != 0, []string{Pareto}},
		{"shape", c.Shape != 0, []string{Pareto}},
		{"sources", c.Sources != 0, []string{Pareto}},
		{"peak", c.Peak != 0, []string{Pareto}},
		{"flows", c.Flows != 0, []string{TCP}},
		{"cc", c.CC != "", []string{TCP}},
		{"bytes", c.Bytes != 0, []string{TCP}},
		{"every", c.Every != 0, []string{TCP}},
	}
	for _, k := range keys {
		if k.set && !slices.Contains(k.of, c.Kind) {
			return k.name
		}
	}
	return ""
}

func (c *Config) validatePackets() error {
	switch {
	case c.Rate == 0 && c.Peak == 0:
		return document.Errorf("rate: missing; want the mean rate, such as rate: 10mbit")
	case c.Rate != 0 && c.Peak != 0:
		return document.Errorf("peak: %v: want rate or peak, not both; one follows from the other", c.Peak)
	case !(c.Rate >= 0 && c.Rate <= maxRate):
		return document.Errorf("rate: %v: want a positive rate of at most 1tbit", c.Rate)
	case !(c.Peak >= 0 && c.Peak <= maxRate):
		return document.Errorf("peak: %v: want a positive rate of at most 1tbit", c.Peak)
	case c.Size != 0 && c.Sizes != nil:
		return document.Errorf("sizes: want size or sizes, not both")
	case c.Size != 0 && (c.Size < MinSize || c.Size > MaxSize):
		return document.Errorf("size: %v: want %d to %d bytes", c.Size, MinSize, MaxSize)
	case c.On < 0 || c.Off < 0:
		return document.Errorf("on, off: %v, %v: want positive times", c.On, c.Off)
	case c.Shape != 0 && !(c.Shape > 1 && c.Shape <= maxShape):
		return document.Errorf("shape: %v: want above 1 (below, there is no mean) and at most %d", c.Shape, maxShape)
	case c.Sources < 0 || c.Sources > maxSources:
		return document.Errorf("sources: %d: want 1 to %d", c.Sources, maxSources)
	}
	if err := c.Sizes.Validate(); err != nil || c.Kind != Pareto {
		return err
	}
	// Between two packets a source must not go on and off without end.
	if s := newSwarm(c, newMix(c), nil); s.sizes.mean()*s.perByte > maxGap*s.on.scale {
		return document.Errorf("on: %v: too short for the rate: less than a packet in %d times; want more on, fewer sources, "+
			"or a higher rate", c.On, maxGap)
	}
	return nil
}

func (c *Config) validateTCP() error {
	switch {
	case c.Flows < 0 || c.Flows > maxFlows:
		return document.Errorf("flows: %d: want 1 to %d", c.Flows, maxFlows)
	case c.CC != "" && !algorithm.MatchString(c.CC):
		return document.Errorf("cc: %q: want a congestion control such as cubic or bbr", c.CC)
	case c.Bytes < 0:
		return document.Errorf("bytes: %v: want a size, or 0 for no end", c.Bytes)
	case c.Every != 0 && c.Every < minEvery:
		return document.Errorf("every: %v: want at least 1ms", c.Every)
	}
	return nil
}

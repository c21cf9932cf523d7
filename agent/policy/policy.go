// Package policy holds what the owner of a host lets a mesh do with it. The owner's word is the last: an agent asks
// Decide before it sends, opens or starts anything.
//
// Everything here is data and pure functions. Nothing is measured, counted or enforced: package agent does that.
//
// It follows the limits files of BWCTL (bwctld.limits(5)) and OWAMP (owamp-server.limits(5)): who asks is given a class, by
// name or else by the closest network; a class has limits, and what is asked must be within those of the class and of each
// of its parents. Unlike there, several limits are of a day, an hour and a program.
package policy

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Policy is what an owner allows: see Parse for the file, and Default for a host without one.
type Policy struct {
	Ports   Ports            `yaml:"ports"` // that may be opened for a test; zero: from 1024 on
	Spool   Size             `yaml:"spool"` // bytes of Results on disk; 0: 1 GB
	Limits  Limits           `yaml:"limits"`
	Classes map[string]Class `yaml:"classes"`
	Assign  []Assignment     `yaml:"assign"`
	Default string           `yaml:"default"` // class of whom no assignment names
}

// Limits bound what the agent and the programs that it starts take of their host.
type Limits struct {
	Memory  Size  `yaml:"memory"`   // bytes that the agent tries to keep within; 0: 64 MB
	CPUs    Count `yaml:"cpus"`     // threads that work at the same time; 0: 2
	Light   Count `yaml:"light"`    // runs at the same time that need no interface alone; 0: 512
	Program Child `yaml:"programs"` // of each external program, with all that it starts in turn
}

// Child bounds an external program.
type Child struct {
	Memory Size  `yaml:"memory"` // bytes of address space of each process; 0: 1 GB
	CPU    Span  `yaml:"cpu"`    // time on a processor of each process; 0: 10 min
	Files  Count `yaml:"files"`  // open at a time in each process; 0: 256
	Nice   Count `yaml:"nice"`   // 1 to 19; 0: 5
	User   Name  `yaml:"user"`   // whom an agent of root starts it as; "": nobody
}

// Class is a set of limits. What is left out is not limited, beyond what the parent says.
type Class struct {
	Parent   string  `yaml:"parent"`
	Kinds    *Names  `yaml:"kinds"`       // of tasks that this host may do; nil: all; none: it measures nothing
	Opens    *Names  `yaml:"opens"`       // kinds of responder, as of package respond, that it may open; nil: all; none: it is no target
	Programs Names   `yaml:"programs"`    // absolute paths; nil: none, unless a parent names some
	Duration Span    `yaml:"duration"`    // of one run
	Rate     Rate    `yaml:"rate"`        // bit/s of one run; what fills a link, at whatever rate, is above any
	Daily    Size    `yaml:"daily_bytes"` // sent and received, from midnight to midnight
	Parallel Count   `yaml:"parallel"`    // runs at the same time that fill a link; 0 in the parents, too: 1
	Hours    []Hours `yaml:"hours"`       // of local time; nil: all
}

// Assignment gives hosts and networks a class.
type Assignment struct {
	Class    string    `yaml:"class"`
	Hosts    Names     `yaml:"hosts"`    // names in the mesh
	Networks []Network `yaml:"networks"` // of the other host's address; the longest that matches counts
}

// Default is the policy of a host whose owner said nothing: any kind of measurement, no external program.
func Default() *Policy {
	return &Policy{Classes: map[string]Class{"default": {}}, Default: "default"}
}

// ClassOf returns the class of another host: by its name if that is assigned, else by the longest network that holds its
// address, else the default.
func (p *Policy) ClassOf(host string, address netip.Addr) string {
	class, bits := p.Default, -1
	for _, a := range p.Assign {
		if slices.Contains(a.Hosts, host) {
			return a.Class
		}
		for _, n := range a.Networks {
			if prefix := netip.Prefix(n); prefix.Contains(address.Unmap().WithZone("")) && prefix.Bits() > bits {
				class, bits = a.Class, prefix.Bits()
			}
		}
	}
	return class
}

// Chain returns a class and its parents, from the class upwards: what a run takes counts for each of them.
func (p *Policy) Chain(class string) []string {
	chain := []string{class}
	for parent := p.Classes[class].Parent; parent != "" && !slices.Contains(chain, parent); {
		chain = append(chain, parent)
		parent = p.Classes[parent].Parent
	}
	return chain
}

// AllowsKind reports whether any class lets this host do tasks of a kind.
func (p *Policy) AllowsKind(kind string) bool {
	return p.any(func(c Class) bool { return c.Kinds == nil || slices.Contains(*c.Kinds, kind) })
}

// AllowsOpening reports whether any class lets this host open a kind of responder.
func (p *Policy) AllowsOpening(kind string) bool {
	return p.any(func(c Class) bool { return c.Opens == nil || slices.Contains(*c.Opens, kind) })
}

// any reports whether a condition holds for a class that some other host may be given, and for all parents of that class.
func (p *Policy) any(holds func(Class) bool) bool {
	had := []string{p.Default}
	for _, a := range p.Assign {
		had = append(had, a.Class)
	}
	return slices.ContainsFunc(had, func(class string) bool {
		return !slices.ContainsFunc(p.Chain(class), func(c string) bool { return !holds(p.Classes[c]) })
	})
}

// AllPrograms lists the external programs that any class allows.
func (p *Policy) AllPrograms() []string {
	var all []string
	for _, class := range p.Classes {
		all = append(all, class.Programs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Bounds returns the limits with their defaults filled in.
func (p *Policy) Bounds() Limits {
	l := p.Limits
	setDefault(&l.Memory, 64e6)
	setDefault(&l.CPUs, 2)
	setDefault(&l.Light, 512)
	setDefault(&l.Program.Memory, 1e9)
	setDefault(&l.Program.CPU, Span(10*time.Minute))
	setDefault(&l.Program.Files, 256)
	setDefault(&l.Program.Nice, 5)
	return l
}

func setDefault[T comparable](field *T, value T) {
	*field = cmp.Or(*field, value)
}

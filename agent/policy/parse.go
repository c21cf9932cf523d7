package policy

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/document"
)

// maxBytes bounds a policy file: a thousand assignments take 100 kB.
const maxBytes = 1 << 20

// Parse reads a policy file, strictly: a key that it does not know is a *document.Error. File is its name, for errors.
func Parse(file string, text []byte) (*Policy, error) {
	p := &Policy{}
	if err := document.StrictYAML(text, maxBytes, p); err != nil {
		return nil, document.InFile(file, err)
	}
	if len(p.Classes) == 0 && len(p.Assign) == 0 && p.Default == "" {
		p.Classes, p.Default = Default().Classes, Default().Default
	}
	if path, err := p.check(); err != nil {
		return nil, document.InFile(file, document.Locate(text, maxBytes, document.About(path, "%s: %v", path, err)))
	}
	return p, nil
}

// check says what cannot be, and at which path of the document.
func (p *Policy) check() (path string, err error) {
	named := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.Classes)) {
		class, at := p.Classes[name], "classes."+name
		if _, ok := p.Classes[class.Parent]; class.Parent != "" && !ok {
			return at + ".parent", p.noClass(class.Parent)
		}
		if chain := p.Chain(name); p.Classes[chain[len(chain)-1]].Parent != "" {
			return at + ".parent", fmt.Errorf("%q: the parents go round in a circle", class.Parent)
		}
		if class.Opens != nil {
			if err := class.Opens.checkResponders(); err != nil {
				return at + ".opens", err
			}
		}
		if err := class.Programs.check(); err != nil {
			return at + ".programs", err
		}
	}
	for i, a := range p.Assign {
		at := fmt.Sprintf("assign[%d]", i)
		if _, ok := p.Classes[a.Class]; !ok {
			return at + ".class", p.noClass(a.Class)
		}
		who := slices.Clone(a.Hosts)
		for _, n := range a.Networks {
			who = append(who, netip.Prefix(n).String())
		}
		if len(who) == 0 {
			return at, errors.New("want hosts, networks or both")
		}
		for _, name := range who {
			if named[name] {
				return at, fmt.Errorf("%q: assigned twice", name)
			}
			named[name] = true
		}
	}
	if _, ok := p.Classes[p.Default]; !ok {
		return "default", p.noClass(p.Default)
	}
	if p.Limits.Program.Nice > 19 {
		return "limits.programs.nice", fmt.Errorf("%d: want 1 to 19", p.Limits.Program.Nice)
	}
	return "", nil
}

func (p *Policy) noClass(name string) error {
	return fmt.Errorf("%q: want one of the classes: %s", name, strings.Join(slices.Sorted(maps.Keys(p.Classes)), ", "))
}

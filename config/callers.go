package config

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/quantity"
)

// Caller is who asks for a test over the network.
type Caller struct {
	Token   string // the name of the token that came with it; "": none
	Account string // the name of who signed in; "": nobody
	Address netip.Addr
}

// Name is the name of the account or of the token that a call came with; "": of neither.
func (c *Caller) Name() string { return c.Account + c.Token }

// Callers says what those may have who start tests over HTTP. Like BWCTL's and OWAMP's limits files
// (bwctld.limits(5), owamp-server.limits(5)): who calls is given a class, and what is asked must be within the limits of the
// class and of each of its parents. The zero value lets nobody in.
type Callers struct {
	Classes map[string]*CallerClass
	Assign  []CallerAssignment
	Default string // class of whom no assignment is about; "": they may have nothing
}

// CallerClass is a set of limits. What is zero or nil is not limited, beyond what the parent says.
type CallerClass struct {
	Parent           string
	Tools            []string // names of tools, or kinds of probes
	Sources, Targets []int    // hosts
	Duration         time.Duration
	BitsPerSecond    float64          // of one test; what fills a link, at whatever rate, is above any
	BytesPerDay      float64          // of all its tests, and those of classes below it, from midnight to midnight UTC
	Parallel         int              // tests at a time, of this class and of those below it
	Hours            []quantity.Hours // in which a test may be asked for
	Zone             string           // of Hours; "": UTC

	zone *time.Location
}

// CallerAssignment gives a class to those that it names, if it names any, on its networks, if it has any.
type CallerAssignment struct {
	Class    string
	Tokens   []string // names
	Accounts []string // names
	Networks []netip.Prefix
}

// ClassOf returns the class of a caller: that of the most specific assignment, of which one that names the caller is more so
// than any that does not, then one with a longer network. "": none.
func (c *Callers) ClassOf(who *Caller) string {
	class, best := c.Default, -1
	for _, a := range c.Assign {
		if rank, ok := a.rank(who); ok && rank > best {
			class, best = a.Class, rank
		}
	}
	return class
}

// byName is above every length of a network, of which 0.0.0.0/0 is more than none.
const byName = 1000

// rank says whether an assignment is about a caller, and how specific it is.
func (a *CallerAssignment) rank(who *Caller) (rank int, ok bool) {
	if len(a.Tokens)+len(a.Accounts) > 0 {
		token := who.Token != "" && slices.Contains(a.Tokens, who.Token)
		if !token && (who.Account == "" || !slices.Contains(a.Accounts, who.Account)) {
			return 0, false
		}
		rank += byName
	}
	longest, address := -1, who.Address.Unmap().WithZone("")
	for _, n := range a.Networks {
		if n.Contains(address) {
			longest = max(longest, n.Bits())
		}
	}
	return rank + longest + 1, len(a.Networks) == 0 || longest >= 0
}

// Chain returns a class and its parents, from the class upwards: what a test takes counts for each of them.
func (c *Callers) Chain(class string) (chain []string) {
	for class != "" && !slices.Contains(chain, class) {
		chain = append(chain, class)
		if of := c.Classes[class]; of != nil {
			class = of.Parent
		}
	}
	return chain
}

// readCallers reads controller.callers.
func (r *reader) readCallers(n node, c *Callers) {
	c.Classes = map[string]*CallerClass{}
	var parents, assigned []node
	given := n.fields("{classes: {staff: {}}, default: staff}", fields{
		"classes": func(n node) {
			for _, e := range n.entries("{staff: {daily_bytes: 10GB}}") {
				value(e.at, new(string), parseName)
				c.Classes[e.key] = r.callerClass(e.value, &parents)
			}
		},
		"assign": func(n node) {
			for _, item := range n.items() {
				c.Assign = append(c.Assign, readAssignment(item, &assigned))
			}
		},
		"default": into(&c.Default, parseName),
	})
	if at, has := given["default"]; has {
		assigned = append(assigned, at)
	}
	names := slices.Sorted(maps.Keys(c.Classes))
	for _, at := range slices.Concat(parents, assigned) {
		if c.Classes[at.text()] == nil {
			at.fail(at.text(), "the name of a class: %s%s", strings.Join(names, ", "), document.Meant(at.text(), names))
		}
	}
	for _, at := range parents {
		if c.circular(at.text()) {
			at.fail(at.text(), "parents that do not go round in a circle")
		}
	}
}

// circular says whether a class is above itself.
func (c *Callers) circular(class string) bool {
	chain := c.Chain(class)
	top := c.Classes[chain[len(chain)-1]]
	return top != nil && top.Parent != ""
}

// callerClass reads one class, and adds the place of its parent's name, which may come later, to parents.
func (r *reader) callerClass(n node, parents *[]node) *CallerClass {
	c := &CallerClass{}
	var days []time.Weekday
	ends := func(list *[]int) func(node) {
		return func(n node) {
			*list = []int{}
			for _, m := range r.selection(n, nil) {
				*list = append(*list, m.host)
			}
		}
	}
	given := n.fields("{duration: 30s, daily_bytes: 10GB}", fields{
		"parent":      func(n node) { readClassName(n, &c.Parent, parents) },
		"tools":       func(n node) { c.Tools = []string{}; values(&c.Tools, parseName)(n) },
		"source":      ends(&c.Sources),
		"target":      ends(&c.Targets),
		"duration":    into(&c.Duration, parseSpan),
		"rate":        into(&c.BitsPerSecond, quantity.ParseRate),
		"daily_bytes": into(&c.BytesPerDay, parseBytes),
		"parallel":    into(&c.Parallel, parseCount),
		"hours":       func(n node) { c.Hours = readHours(n) },
		"days":        func(n node) { days = readDays(n) },
		"zone":        into(&c.Zone, parseZone),
	})
	c.zone = zone(c.Zone)
	c.Hours = onDays(c.Hours, days)
	if z, has := given["zone"]; has && len(c.Hours) == 0 {
		z.fail(z.kind(), "zone only beside hours or days")
	}
	return c
}

func readClassName(n node, name *string, places *[]node) {
	if value(n, name, parseName) {
		*places = append(*places, n)
	}
}

func readAssignment(n node, classes *[]node) (a CallerAssignment) {
	given := n.fields("{class: staff, token: alice}", fields{
		"class":   func(n node) { readClassName(n, &a.Class, classes) },
		"token":   values(&a.Tokens, parseName),
		"account": values(&a.Accounts, parseName),
		"network": values(&a.Networks, parseNetwork),
	})
	if given["class"].ast == nil || given["token"].ast == nil && given["account"].ast == nil && given["network"].ast == nil {
		n.fail("", "a class, and of whom: token, account, network")
	}
	return a
}

func parseNetwork(s string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		return prefix, bad(s, "a network such as 192.0.2.0/24 or 2001:db8::/32")
	}
	if prefix != prefix.Masked() {
		return prefix, bad(s, "a network without bits behind its prefix: "+prefix.Masked().String())
	}
	return prefix, nil
}

package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Ask is a test that a caller wants.
type Ask struct {
	Tool, Kind     string
	Source, Target int // hosts
	At             time.Time
	Need           measure.Demand // as the probe reckons it
	Bytes          float64        // that it will take, as far as that can be known: see Mesh.Bytes
}

// Use is what tests of a class, and of those below it, take already.
type Use struct {
	Bytes float64 // of today
	Tests int     // now
}

// Denial is why a caller may not have a test.
type Denial struct {
	Class string // whose limit it is; "": the caller has no class
	Limit string // as the mesh file calls it
	Value string
	Want  string
	Later bool // it may be asked for again, when others are over or the day is
}

func (d *Denial) Error() string {
	of, value := "", ""
	if d.Class != "" {
		of = "class " + d.Class + ": "
	}
	if d.Value != "" {
		value = quoted(d.Value) + ": "
	}
	return fmt.Sprintf("%s%s: %swant %s", of, d.Limit, value, d.Want)
}

// callerSetUp is what a test may take beyond the duration that is allowed: whoever writes 30s means a test that sends for
// 30 s. An agent's own policy is as generous.
const callerSetUp = 2 * time.Second

// Denies says why a class may not have a test; nil: it may. used tells what is taken.
func (m *Mesh) Denies(class string, a Ask, used func(class string) Use) *Denial {
	chain := m.Controller.Callers.Chain(class)
	for _, name := range chain {
		c := m.Controller.Callers.Classes[name]
		if c == nil { // of a mesh file that has changed meanwhile
			return &Denial{Limit: "class", Value: name, Want: "one that the mesh file has"}
		}
		if d := m.deniesEver(c, &a); d != nil {
			d.Class = name
			return d
		}
	}
	for _, name := range chain {
		if d := m.Controller.Callers.Classes[name].deniesNow(&a, used(name)); d != nil {
			d.Class, d.Later = name, true
			return d
		}
	}
	return nil
}

// deniesEver checks what does not depend on other tests.
func (m *Mesh) deniesEver(c *CallerClass, a *Ask) *Denial {
	duration := time.Duration(a.Need.DurationSeconds * float64(time.Second))
	highest := quantity.FormatRate(c.BitsPerSecond)
	switch {
	case c.Tools != nil && !slices.Contains(c.Tools, a.Tool) && !slices.Contains(c.Tools, a.Kind):
		return &Denial{Limit: "tools", Value: a.Tool, Want: listed(c.Tools)}
	case c.Sources != nil && !slices.Contains(c.Sources, a.Source):
		return &Denial{Limit: "source", Value: m.Hosts[a.Source].Name, Want: listed(m.names(c.Sources))}
	case c.Targets != nil && !slices.Contains(c.Targets, a.Target):
		return &Denial{Limit: "target", Value: m.Hosts[a.Target].Name, Want: listed(m.names(c.Targets))}
	case c.Duration > 0 && duration > c.Duration+callerSetUp:
		return &Denial{Limit: "duration", Value: duration.Round(time.Millisecond).String(), Want: "at most " + c.Duration.String()}
	case c.BitsPerSecond > 0 && a.Need.BitsPerSecond > c.BitsPerSecond:
		return &Denial{Limit: "rate", Value: quantity.FormatRate(a.Need.BitsPerSecond), Want: "at most " + highest}
	case c.BitsPerSecond > 0 && a.Need.BitsPerSecond == 0 && a.Need.Exclusive:
		return &Denial{Limit: "rate", Value: "as fast as the path carries", Want: "a test with a rate, of at most " + highest}
	case len(c.Hours) > 0 && !within(c.Hours, c.zone, a.At, a.At):
		return &Denial{Limit: "hours", Value: a.At.In(c.zone).Format("Mon 15:04 MST"), Want: c.hours()}
	}
	return nil
}

// deniesNow checks what depends on other tests.
func (c *CallerClass) deniesNow(a *Ask, used Use) *Denial {
	switch {
	case c.Parallel > 0 && used.Tests >= c.Parallel:
		return &Denial{Limit: "parallel", Value: fmt.Sprint(used.Tests + 1), Want: fmt.Sprintf("at most %d at a time", c.Parallel)}
	case c.BytesPerDay > 0 && (used.Bytes >= c.BytesPerDay || used.Bytes+a.Bytes > c.BytesPerDay):
		left := max(0, int64(c.BytesPerDay-used.Bytes))
		return &Denial{Limit: "daily_bytes", Value: quantity.FormatSize(int64(a.Bytes)), Want: fmt.Sprintf(
			"at most %s: %s a day, of which %s are taken", quantity.FormatSize(left),
			quantity.FormatSize(int64(c.BytesPerDay)), quantity.FormatSize(int64(used.Bytes)))}
	}
	return nil
}

func (m *Mesh) names(hosts []int) (names []string) {
	for _, h := range hosts {
		names = append(names, m.Hosts[h].Name)
	}
	return names
}

// hours prints when a class is open.
func (c *CallerClass) hours() string {
	var all []string
	for _, h := range c.Hours {
		text := h.String()
		if h.Days != nil {
			var on []string
			for _, d := range h.Days {
				on = append(on, strings.ToLower(d.String()[:3]))
			}
			text = strings.Join(on, ",") + " " + text
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ") + " " + c.zone.String()
}

// maxListed keeps a denial on a line that a terminal shows.
const maxListed = 10

// listed says that one of a list is wanted.
func listed(names []string) string {
	switch {
	case len(names) == 0:
		return "none at all"
	case len(names) > maxListed:
		return fmt.Sprintf("one of %s and %d others", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
	}
	return "one of " + strings.Join(names, ", ")
}

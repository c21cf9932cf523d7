package schedule

import (
	"math"
	"time"
)

// Hours says whether something is closed at a time, and until when that answer holds. It must be a function of its
// argument alone; until is after at, and the zero Time means for ever.
type Hours func(at time.Time) (closed bool, until time.Time)

// Closure keeps tests from running at certain hours. What is empty stands for any.
type Closure struct {
	Test           string
	Host           string // at either end
	Source, Target string // hosts, by direction
	Hours          Hours
	Text           string // what Hours stands for, to tell a changed mesh from the same
}

// Weekly closes from one time of day to another on days of the week. With from after until it closes overnight, and the
// day is the one on which it begins; with both the same it closes all day. Times are of the clock on the wall.
func Weekly(days []time.Weekday, from, until time.Duration, where *time.Location) Hours {
	var on [7]bool
	for _, d := range days {
		on[d] = true
	}
	wall := func(day time.Time, clock time.Duration) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, int(clock), where)
	}
	return func(at time.Time) (bool, time.Time) {
		at = at.In(where)
		next := at.AddDate(0, 0, 1)
		for offset := -1; offset <= 8; offset++ { // yesterday's may still go on; a week always has an answer
			day := time.Date(at.Year(), at.Month(), at.Day()+offset, 12, 0, 0, 0, where)
			if !on[day.Weekday()] {
				continue
			}
			begin, end := wall(day, from), wall(day, until)
			if until <= from {
				end = wall(day.AddDate(0, 0, 1), until)
			}
			if at.Before(begin) {
				return false, begin
			}
			if at.Before(end) {
				return true, end
			}
		}
		return false, next
	}
}

// closure is a Closure by index.
type closure struct {
	test, host, source, target int32 // none: any; hosts by their number
	hours                      Hours
}

// closures answers when a pair of a test is open.
type closures struct {
	all     []closure
	touched []bool  // of each interface: whether any closure concerns it
	host    []int32 // of each interface
}

func newClosures(m *Mesh) *closures {
	c := &closures{touched: make([]bool, len(m.Interfaces)), host: make([]int32, len(m.Interfaces))}
	hosts := map[string]int32{"": none}
	for i, iface := range m.Interfaces {
		if _, known := hosts[iface.Host]; !known {
			hosts[iface.Host] = int32(len(hosts) - 1)
		}
		c.host[i] = hosts[iface.Host]
	}
	tests := map[string]int32{"": none}
	for i, t := range m.Tests {
		tests[t.Name] = int32(i)
	}
	for _, cl := range m.Closures {
		compiled := closure{tests[cl.Test], hosts[cl.Host], hosts[cl.Source], hosts[cl.Target], cl.Hours}
		c.all = append(c.all, compiled)
		for i, h := range c.host {
			anyHost := compiled.host == none && compiled.source == none && compiled.target == none
			if anyHost || h == compiled.host || h == compiled.source || h == compiled.target {
				c.touched[i] = true
			}
		}
	}
	return c
}

// concern says whether any closure may hold for the pair at all.
func (c *closures) concern(p Pair) bool {
	return len(c.all) > 0 && (c.touched[p.Source] || c.touched[p.Target])
}

// matching are the closures that may hold for the pair, by number.
func (c *closures) matching(test int32, p Pair) (all []int) {
	for i := range c.all {
		if c.matches(&c.all[i], test, p) {
			all = append(all, i)
		}
	}
	return all
}

func (c *closures) matches(cl *closure, test int32, p Pair) bool {
	s, t := c.host[p.Source], c.host[p.Target]
	return (cl.test == none || cl.test == test) && (cl.host == none || cl.host == s || cl.host == t) &&
		(cl.source == none || cl.source == s) && (cl.target == none || cl.target == t)
}

// maxClosedSpans ends the search for an open time: with daily hours this is a month.
const maxClosedSpans = 60

// never is later than any time.
const never = math.MaxInt64

// open is the first time from at on at which the pair is open for as long as length; never, if that is not soon.
func (c *closures) open(test int32, p Pair, at int64, length time.Duration) int64 {
	if !c.concern(p) {
		return at
	}
	for range maxClosedSpans {
		moved := false
		for i := range c.all {
			if cl := &c.all[i]; c.matches(cl, test, p) {
				next := openFrom(cl.hours, at, length)
				moved = moved || next != at
				at = next
			}
			if at == never {
				return never
			}
		}
		if !moved {
			return at
		}
	}
	return never
}

// closes is the first time after at at which the pair is closed, from a time at which it is open.
func (c *closures) closes(test int32, p Pair, at int64) int64 {
	first := int64(never)
	if !c.concern(p) {
		return first
	}
	for i := range c.all {
		cl := &c.all[i]
		if !c.matches(cl, test, p) {
			continue
		}
		if closed, until := cl.hours(time.Unix(0, at)); !closed && !until.IsZero() {
			first = min(first, until.UnixNano())
		}
	}
	return first
}

func openFrom(hours Hours, at int64, length time.Duration) int64 {
	for range maxClosedSpans {
		closed, until := hours(time.Unix(0, at))
		switch {
		case !closed && (until.IsZero() || until.UnixNano() >= at+int64(length)):
			return at
		case closed && until.IsZero():
			return never
		}
		at = until.UnixNano() // closed until then, or closed from then on
	}
	return never
}

// Package twin makes the lab that a measured path looks like, from Results of one path: its twin. Check stands the twin
// up, measures it as the path was measured, and says where the two differ.
//
// What Results do not tell is assumed, and the lab file that comes out says in its comments what was measured, by which
// Result, and what was assumed:
//
//	  ping       least round trip --> delay      its spread --> jitter      lost, doubled, overtaken echoes --> chance
//	  trace      hops and their delays
//	  capacity,
//	  throughput rate and queue of the narrowest link, MTU, settings of the hosts; by UDP: loss and jitter of one way
//
//	source ---- hop1 ---- hop2 ==== hop3 ---- target
//	                            ^ the longest link is taken for the narrowest one, and has all that is not delay
//
// It measures nothing itself: Check runs a pathwise command on the twin's hosts.
package twin

import (
	"errors"
	"fmt"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/measure"
)

// Twin is a lab of two hosts and the path between them.
type Twin struct {
	Source, Target Host
	Routers        []Router // from Source to Target
	Links          []Link   // one more than routers
	Notes          []string // where it comes from, and what limits it

	originals []*measure.Result
}

// Host is an end of the path.
type Host struct {
	Name   string
	Sysctl []Setting
	Notes  []string
}

// Setting is a kernel setting of a host.
type Setting struct{ Key, Value string }

// Router is a hop.
type Router struct {
	Name   string
	Silent bool // it answered no probe
	Note   string
}

// Link is a step of the path. Shape holds both ways, Forward and Reverse what differs.
type Link struct {
	Shape, Forward, Reverse link.Shape
	Notes                   []string
}

func (l *Link) note(format string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
}

func (h *Host) note(format string, args ...any) {
	h.Notes = append(h.Notes, fmt.Sprintf(format, args...))
}

// ErrNothing means that no Result holds a round trip, without which there is no twin.
var ErrNothing = errors.New("no round trip in the results; want one of kind ping, trace or throughput at least")

// FromResults makes the twin of the path that Results measured. They must be of one path, all from the same end; failed
// ones are passed over, and so are kinds that say nothing of a path. That they are of several paths is the caller's to
// mend, a *document.Error.
func FromResults(results []*measure.Result) (*Twin, error) {
	e, err := gather(results)
	if err != nil {
		return nil, err
	}
	trip, ok := e.leastRoundTrip()
	if !ok {
		return nil, ErrNothing
	}
	t := &Twin{originals: e.all}
	t.Source.Name, t.Target.Name = hostNames(e.source, e.target)
	t.Notes = e.sources()
	t.addHops(e, trip)
	narrow := t.longest()
	l := &t.Links[narrow]
	b := e.bottleneck()
	b.apply(l)
	t.takeSerialization(narrow, trip, b)
	e.addJitter(l)
	e.addLoss(l, b)
	e.addDuplicates(l)
	t.addMTU(e, l)
	t.addSettings(e)
	t.Notes = append(t.Notes, "Everything but delay is on the longest link, which is taken for the narrowest.")
	return t, nil
}

// Spec returns the twin as a lab to start.
func (t *Twin) Spec() (*lab.Spec, error) { return lab.ParseSpec("twin", t.YAML()) }

// evidence is the Results by what they tell.
type evidence struct {
	source, target                              measure.Endpoint
	all                                         []*measure.Result
	pings, traces, transfers, datagrams, trains []*measure.Result
}

// gather sorts Results and sees to it that they are of one path.
func gather(results []*measure.Result) (*evidence, error) {
	e := &evidence{}
	for _, r := range results {
		if r == nil || r.Status == measure.StatusFailed {
			continue
		}
		var list *[]*measure.Result
		switch {
		case r.Kind == "ping":
			list = &e.pings
		case r.Kind == "trace":
			list = &e.traces
		case r.Kind == "capacity" && r.Parameters["hops"] != true: // its packets expire on the way
			list = &e.trains
		case r.Kind == "throughput" && r.Parameters["proto"] == "udp":
			list = &e.datagrams
		case r.Kind == "throughput":
			list = &e.transfers
		default:
			continue
		}
		if err := e.join(r); err != nil {
			return nil, err
		}
		*list = append(*list, r)
		e.all = append(e.all, r)
	}
	if len(e.all) == 0 {
		return nil, ErrNothing
	}
	return e, nil
}

// join takes a Result's ends for the path's, or finds that they are others.
func (e *evidence) join(r *measure.Result) error {
	for _, end := range []struct {
		name  string
		path  *measure.Endpoint
		other measure.Endpoint
	}{{"source", &e.source, r.Source}, {"target", &e.target, r.Target}} {
		if end.path.Address == "" {
			*end.path = end.other
			continue
		}
		if end.other.Address != "" && end.other.Address != end.path.Address {
			return document.Errorf("results: %s %s of %s %s is not %s: want results of one path, all from the same end",
				end.name, end.other.Address, r.Kind, r.ID, end.path.Address)
		}
	}
	return nil
}

// sources lists the Results, for the head of the file.
func (e *evidence) sources() []string {
	notes := []string{fmt.Sprintf("The twin of the path from %s to %s, as it was measured by:", describe(e.source),
		describe(e.target))}
	for _, r := range e.all {
		notes = append(notes, fmt.Sprintf("  %-10s %s  %s", r.Kind, r.ID, r.Started.UTC().Format("2006-01-02 15:04:05")))
	}
	return notes
}

func describe(e measure.Endpoint) string {
	if e.Name == "" || e.Name == e.Address {
		return e.Address
	}
	return fmt.Sprintf("%s (%s)", e.Name, e.Address)
}

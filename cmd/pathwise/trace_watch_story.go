package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// routeEvent is something that a watch tells: as a JSON line, and as a line for people, which some do not have.
type routeEvent struct {
	name string
	data any
	text string
}

// routeSummary is what a watch came to.
type routeSummary struct {
	Target  string          `json:"target"`
	Address string          `json:"address"`
	From    *time.Time      `json:"from"` // the first trace
	To      *time.Time      `json:"to"`   // the last one
	Traces  int             `json:"traces"`
	Failed  int             `json:"failed"`
	Course  analysis.Course `json:"course"`
	Route   *analysis.Route `json:"route"` // the last one
}

const (
	// mostWatched is how many traces are judged together: of eight hours, if they are ten seconds apart. Of more, the oldest third is let go, and
	// only the changes among them are kept.
	mostWatched = 3000
	// firstTraces follow each other soon, so that it is known early over which routes flows are balanced.
	firstTraces = 6
)

// routeStory is what traces of a route come to while they come in. It is pure. What a change is, package analysis says.
type routeStory struct {
	target, address string
	first           time.Time
	seen, failed    int
	traces          []*measure.Result // the newest
	course          analysis.Course
	past            []analysis.Move // of traces that were let go
	told            map[string]bool
	most            int                         // traces that are kept
	known           func(address string) string // what is known of one; nil: nobody looks
}

func newRouteStory(target string) *routeStory {
	return &routeStory{target: target, told: map[string]bool{}, most: mostWatched}
}

// add takes a trace into account, and returns what it brings that is new.
func (s *routeStory) add(r *measure.Result) (events []routeEvent) {
	s.address = r.Target.Address
	if s.seen++; s.seen == 1 {
		s.first = r.Started
	}
	s.traces = append(s.traces, &measure.Result{ID: r.ID, Started: r.Started, Notes: r.Notes, Samples: measure.Samples{Hops: r.Samples.Hops, Route: r.Samples.Route}})
	if len(s.traces) > s.most {
		s.forget()
	}
	s.course = analysis.CourseOf(s.traces)
	if route := s.route(); route != nil && !s.told["route"] {
		s.told["route"] = true
		events = append(events, routeEvent{"route", route, clockTime(r.Started) + "  " + routeInLine(route)})
	}
	for i := range s.course.Moves {
		if m := &s.course.Moves[i]; m.Settled() && s.once("change", m.After.Result) {
			events = append(events, routeEvent{"change", m, s.changeLine(m)})
		}
	}
	for i := range s.course.Turns {
		if t := &s.course.Turns[i]; s.once(t.How, turnsName(t)) {
			text := clockTime(r.Started) + "  no change: " + diagnose.TurnsText(t)
			if n := s.within(t); n > 0 {
				text += fmt.Sprintf("; %s told above belong to it", quantity.FormatCount(n, "change"))
			}
			events = append(events, routeEvent{"turns", t, text})
		}
	}
	for i := range s.course.Varying {
		if v := &s.course.Varying[i]; s.once(v.How, fmt.Sprint(v.TTL)) {
			events = append(events, routeEvent{"varying", v, clockTime(r.Started) + "  no change: " + diagnose.VaryingText(v)})
		}
	}
	return events
}

// once says whether something was not told before.
func (s *routeStory) once(what, which string) bool {
	name := what + " " + which
	was := s.told[name]
	s.told[name] = true
	return !was
}

// turnsName is a name of turns that is one and the same for turns of the same routes: the addresses at the hops where they differ.
func turnsName(t *analysis.Turns) string {
	var addresses []string
	for i := range t.Routes {
		for _, ttl := range t.TTLs {
			addresses = append(addresses, t.Routes[i].At(ttl).Addresses...)
		}
	}
	slices.Sort(addresses)
	return strings.Join(slices.Compact(addresses), " ")
}

// within counts the changes told that turned out to be routes that take turns.
func (s *routeStory) within(t *analysis.Turns) (n int) {
	for i := range t.Routes {
		if s.told["change "+t.Routes[i].Result] {
			n++
		}
	}
	return n
}

// forget lets the oldest traces go, and keeps the changes among them.
func (s *routeStory) forget() {
	s.traces = slices.Clone(s.traces[s.most/3:])
	for _, m := range s.course.Moves {
		if !m.After.First.After(s.traces[0].Started) {
			s.past = append(s.past, m)
		}
	}
}

// route is the newest one that was seen; nil: none was yet.
func (s *routeStory) route() *analysis.Route {
	if n := len(s.course.Routes); n > 0 {
		return &s.course.Routes[n-1]
	}
	return nil
}

// unsettled says that the next trace is to follow soon: there are few so far, or the newest ones went by another route, and it is not known yet
// whether that lasts.
func (s *routeStory) unsettled() bool {
	route := s.route()
	if route == nil || s.seen < firstTraces {
		return s.seen < firstTraces
	}
	for _, b := range s.course.Brief {
		if b.Last.Equal(route.Last) {
			return true
		}
	}
	n := len(s.course.Moves)
	return n > 0 && !s.course.Moves[n-1].Settled()
}

// summary is what all traces came to, as one event.
func (s *routeStory) summary() []routeEvent {
	d := routeSummary{Target: s.target, Address: s.address, Traces: s.seen, Failed: s.failed, Course: s.course, Route: s.route()}
	d.Course.Moves = slices.Concat(s.past, s.course.Moves)
	if s.seen == 0 {
		return []routeEvent{{name: "summary", data: d}}
	}
	last := s.traces[len(s.traces)-1].Started
	d.From, d.To = &s.first, &last
	lines := []string{fmt.Sprintf("%s of the route to %s in %s: %s", quantity.FormatCount(s.seen, "trace"), s.target,
		quantity.FormatSeconds(last.Sub(s.first).Round(time.Second).Seconds()), changesText(len(d.Course.Moves)))}
	if s.failed > 0 {
		lines = append(lines, fmt.Sprintf("%s failed", quantity.FormatCount(s.failed, "trace")))
	}
	for i := range d.Course.Moves {
		lines = append(lines, s.changeLine(&d.Course.Moves[i]))
	}
	for i := range d.Course.Turns {
		lines = append(lines, "no change: "+diagnose.TurnsText(&d.Course.Turns[i]))
	}
	for i := range d.Course.Varying {
		lines = append(lines, "no change: "+diagnose.VaryingText(&d.Course.Varying[i]))
	}
	for _, b := range d.Course.Brief {
		lines = append(lines, fmt.Sprintf("no change: another route at %s, for %s: hop %d was %s", clockTime(b.First), quantity.FormatCount(b.Results, "trace"), b.Changed[0], hopOf(b)))
	}
	return []routeEvent{{"summary", d, strings.Join(lines, "\n")}}
}

// hopOf is who answered at the first hop of a route that did not last at which it was another one.
func hopOf(b analysis.Brief) string {
	r := analysis.Route{Hops: b.Hops}
	if who := strings.Join(r.At(b.Changed[0]).Addresses, " "); who != "" {
		return who
	}
	return "not there"
}

func changesText(n int) string {
	if n == 0 {
		return "no change of route"
	}
	if n == 1 {
		return "1 change of route"
	}
	return fmt.Sprintf("%d changes of route", n)
}

// changeLine is when a change was, what it changed, and what is known of those who answered at the first hop that it changed:
//
//	between 12:53:24 and 12:53:24  change: hop 2: 10.0.1.2 is now 10.0.3.2, as many hops (10.0.1.2: reading [AS64500]; 10.0.3.2: leeds [AS64510])
func (s *routeStory) changeLine(m *analysis.Move) string {
	line := fmt.Sprintf("between %s and %s  change: %s", clockTime(m.Before.Last), clockTime(m.After.First), diagnose.MoveText(m))
	if s.known == nil || len(m.After.Changed) == 0 {
		return line
	}
	var known []string
	first := m.After.Changed[0]
	for _, address := range slices.Concat(m.Before.At(first).Addresses, m.After.At(first).Addresses) {
		if text := s.known(address); text != "" {
			known = append(known, address+": "+strings.ReplaceAll(text, "  ", " "))
		}
	}
	if len(known) == 0 {
		return line
	}
	return line + " (" + strings.Join(known, "; ") + ")"
}

// routeInLine is a route in a line.
func routeInLine(r *analysis.Route) string {
	var hops []string
	for _, h := range r.Hops {
		who := "*"
		if len(h.Addresses) > 0 {
			who = strings.Join(h.Addresses, "|")
		}
		hops = append(hops, who)
	}
	text := fmt.Sprintf("route of %s: %s", quantity.FormatCount(len(hops), "hop"), strings.Join(hops, " "))
	if trip, known := r.Trip(); known {
		text += ", round trip " + quantity.FormatSeconds(trip)
	}
	return text
}

// clockTime is a time of day, as this host has it.
func clockTime(at time.Time) string { return at.Local().Format(time.TimeOnly) }

package control

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// segmentTransfer is the longest transfer over a part of a path: as for a diagnosis, but over a shorter round trip.
	segmentTransfer = 4 * time.Second
	// mostPoints is how many points divide a path that nobody named: each part takes ten seconds or so, and both of its hosts alone.
	mostPoints = 3
	// mostNamed is how many may be named.
	mostNamed = 8
	// routeAge is how old a trace may be that tells where a host stands: routes are moved within weeks.
	routeAge = 7 * 24 * time.Hour
	// mostTraces is how many Results of traces from a host, or to one, are looked at: of a mesh of 40 hosts, an hour of one every two minutes.
	mostTraces = 1000
)

// checkPoints says which point cannot divide the path between two hosts.
func checkPoints(m *config.Mesh, r *DiagnosisRequest) error {
	if len(r.Points) > mostNamed {
		return badRequest("points", strings.Join(r.Points, ","), fmt.Sprintf("%d at most", mostNamed))
	}
	for i, name := range r.Points {
		host, err := hostOf(m, "points", name)
		switch {
		case err != nil:
			return err
		case name == r.Source || name == r.Target || slices.Contains(r.Points[:i], name):
			return badRequest("points", name, "each host once, and neither source nor target")
		case m.Hosts[host].Reach == config.ReachResponder:
			return badRequest("points", name, "a host that runs an agent; this one only answers")
		}
	}
	return nil
}

// segments measures the parts of a path between the points along it, one after the other, and says which one is to blame. nil: no points are
// known, which the diagnosis then notes.
func (d *diagnosis) segments(ctx context.Context, found *diagnose.Diagnosis) error {
	points, err := d.points(ctx, found)
	if err != nil {
		return err
	}
	if len(points) == 0 {
		found.Notes = append(found.Notes, "the path is not divided into segments: no host of the mesh with an agent is known to stand along its "+
			"route; traces between it and both ends tell, or name points")
		return nil
	}
	whole := diagnose.Stretch{Results: found.Results}
	if err := d.evenly(ctx, found, &whole, ""); err != nil {
		return err
	}
	found.Results = whole.Results
	var parts []diagnose.Stretch
	ends := append(append([]string{d.request.Source}, points...), d.request.Target)
	for i, to := range ends[1:] {
		part, err := d.stretch(ctx, found, i+1, ends[i], to)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	found.Segments = diagnose.JudgeParts(found, nil, parts)
	for _, part := range parts {
		found.Segments.Results = append(found.Segments.Results, part.Results...)
	}
	return nil
}

// stretch measures one part of a path, the number of which is in the names of its steps.
func (d *diagnosis) stretch(ctx context.Context, found *diagnose.Diagnosis, number int, from, to string) (diagnose.Stretch, error) {
	of := diagnose.Stretch{From: from, To: to}
	part := *d
	part.request.Source, part.request.Target, part.failed, part.rests = from, to, nil, 0
	if m := d.Mesh(); m != nil {
		if host, known := m.Host(to); known && m.Hosts[host].Reach == config.ReachResponder {
			part.rests = responderRests
		}
	}
	prefix := fmt.Sprintf("segment-%d-", number)
	steps := diagnose.StretchSteps(found, nil, segmentTransfer)
	for i := range steps {
		steps[i].Name = prefix + steps[i].Name
		steps[i].Why += fmt.Sprintf(", from %s to %s", from, to)
	}
	part.grow(steps...)
	for _, s := range steps {
		if err := part.add(ctx, &of, s); err != nil {
			return of, err
		}
	}
	err := part.evenly(ctx, found, &of, prefix)
	of.Failed = strings.Join(part.failed, "; ")
	d.plan, d.left, d.failed = part.plan, part.left, append(d.failed, part.failed...)
	return of, err
}

// evenly sends packets over a part until its losses are known well enough.
func (d *diagnosis) evenly(ctx context.Context, found *diagnose.Diagnosis, part *diagnose.Stretch, prefix string) error {
	for before := -1; before != len(part.Results); {
		before = len(part.Results)
		s, more := diagnose.StretchStep(found, nil, part.Results)
		if !more {
			return nil
		}
		s.Name = prefix + s.Name
		d.grow(s)
		if err := d.add(ctx, part, s); err != nil {
			return err
		}
	}
	return nil
}

// add makes a step of a part. Its error is that ctx ended.
func (d *diagnosis) add(ctx context.Context, part *diagnose.Stretch, s diagnose.Step) error {
	r, err := d.do(ctx, s)
	if r != nil {
		part.Results = append(part.Results, r)
	}
	return cmp.Or(err, context.Cause(ctx))
}

// grow tells of steps that come behind those that were told.
func (d *diagnosis) grow(steps ...diagnose.Step) {
	d.plan = append(slices.Clone(d.plan), steps...)
	d.show(DiagnosisLine{Plan: d.plan})
}

// points are the hosts that divide the path, in their order along it: those that were named, or those that traces show on its route.
func (d *diagnosis) points(ctx context.Context, found *diagnose.Diagnosis) ([]string, error) {
	m := d.Mesh()
	there, err := d.traces(ctx, archive.Key{Source: d.request.Source})
	if err != nil {
		return nil, err
	}
	onward, err := d.traces(ctx, archive.Key{Target: d.request.Target})
	if err != nil {
		return nil, err
	}
	whole := diagnose.Traced(found.Results)
	places := map[string]diagnose.Position{}
	for i := range m.Hosts {
		h := &m.Hosts[i]
		if h.Offline || h.Reach == config.ReachResponder || h.Name == d.request.Source || h.Name == d.request.Target {
			continue
		}
		if place, along := diagnose.Along(whole, there[pair{d.request.Source, h.Name}], onward[pair{h.Name, d.request.Target}]); along {
			places[h.Name] = place
		}
	}
	if len(d.request.Points) > 0 {
		return inOrder(d.request.Points, places), nil
	}
	now := d.config.Now()
	maps.DeleteFunc(places, func(name string, _ diagnose.Position) bool { return !d.roster.here(name, now) })
	return spread(places), nil
}

// inOrder sorts points by their places, if all are known.
func inOrder(points []string, places map[string]diagnose.Position) []string {
	points = slices.Clone(points)
	for _, p := range points {
		if places[p].Routers == 0 {
			return points
		}
	}
	slices.SortStableFunc(points, func(a, b string) int { return cmp.Compare(places[a].Routers, places[b].Routers) })
	return points
}

// spread are hosts at different places, mostPoints at most, as far from each other as they come; of those at one place, the one over which the
// way is the shortest.
func spread(places map[string]diagnose.Position) (points []string) {
	at := map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		p := places[name]
		if other, taken := at[p.Routers]; !taken || p.Detour < places[other].Detour {
			at[p.Routers] = name
		}
	}
	var order []int
	for place := range at {
		order = append(order, place)
	}
	slices.Sort(order)
	for i := range min(len(order), mostPoints) {
		points = append(points, at[order[(2*i+1)*len(order)/(2*min(len(order), mostPoints))]])
	}
	return points
}

// pair are two hosts, by name.
type pair struct{ source, target string }

// traces are the routes of the newest traces from a host, or to one.
func (d *diagnosis) traces(ctx context.Context, key archive.Key) (map[pair][]measure.Hop, error) {
	of := key.Exactly()
	now := d.config.Now()
	query := archive.ResultQuery{Source: of.Source, Target: of.Target, Kind: "trace", From: now.Add(-routeAge), To: now.Add(time.Minute), Limit: mostTraces}
	page, err := d.config.Archive.Results(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("read routes: %w", err)
	}
	newest, routes := map[pair]time.Time{}, map[pair][]measure.Hop{}
	for _, r := range page.Results {
		of := pair{r.Source.Name, r.Target.Name}
		if r.Way != measure.Way(measure.Reverse) && len(r.Samples.Hops) > 0 && r.Started.After(newest[of]) {
			newest[of], routes[of] = r.Started, r.Samples.Hops
		}
	}
	return routes, nil
}

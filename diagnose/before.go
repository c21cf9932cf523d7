package diagnose

import (
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// DiagnoseAfter is Diagnose of Results, which are also compared with earlier ones of the same path: whether traffic goes another way
// now, and takes longer.
func DiagnoseAfter(before, results []*measure.Result) *Diagnosis {
	return Diagnose(results).after(before)
}

// DiagnoseSection is DiagnoseAfter of a path that is judged as a part of a longer one as well: see JudgeSection.
func DiagnoseSection(t Target, before, results []*measure.Result) *Diagnosis {
	g := gather(results)
	g.aim(t)
	d := diagnoseBy(rules, g, results).after(before)
	d.Section = JudgeSection(t, results)
	return d
}

// after compares a diagnosis with earlier Results.
func (d *Diagnosis) after(before []*measure.Result) *Diagnosis {
	results := d.Results
	if d.Before = before; len(before) == 0 || len(results) == 0 {
		return d
	}
	e := eventBetween(before, results)
	j := judge(rules, e.subject(results[0].Source.Name, results[0].Target.Name))
	d.Findings, d.Considered = append(d.Findings, j.findings()...), append(d.Considered, j.considered...)
	if f := d.First(); f != nil {
		d.Verdict = f.ID
	}
	return d
}

const (
	// compared is how many round trips each side must have: the least of fewer may have waited in a queue.
	compared = 5
	// leastApart and leastShare are by how much, in seconds and of the longer one, the least round trips must differ: hosts differ
	// by less from hour to hour.
	leastApart = 0.5e-3
	leastShare = 0.05
)

// eventBetween is what differs between earlier Results and those of now.
func eventBetween(before, now []*measure.Result) *Event {
	newest := func(a, b *measure.Result) int { return a.Started.Compare(b.Started) }
	e := &Event{After: slices.MaxFunc(before, newest).Started, Until: slices.MinFunc(now, newest).Started}
	if c, differs := compareDelay(trips(before), trips(now)); differs {
		c.Last, c.First = newestPing(before), newestPing(now)
		e.Changed = append(e.Changed, c)
	}
	e.Route = compareRoutes(before, now)
	return e
}

// smallPing reports whether a Result is of small pings by ICMP: others take longer for their size, or for a program that answers.
func smallPing(r *measure.Result) bool { return sortOf(r) == ofPing && r.Parameters["df"] != true }

// trips are the round trips of small pings, in seconds.
func trips(results []*measure.Result) (all []float64) {
	for _, r := range results {
		if !smallPing(r) {
			continue
		}
		for _, echo := range r.Samples.Echoes {
			if echo.RTTSeconds != nil {
				all = append(all, *echo.RTTSeconds)
			}
		}
	}
	return all
}

// compareDelay compares least round trips. They differ if the least of the longer ones is above most of the shorter ones, so that a
// queue that comes and goes is no longer way.
func compareDelay(before, now []float64) (c Changed, differs bool) {
	if len(before) < compared || len(now) < compared {
		return c, false
	}
	was, is := slices.Min(before), slices.Min(now)
	short, long := before, is
	if is < was {
		short, long = now, was
	}
	sorted := slices.Sorted(slices.Values(short))
	if long <= sorted[len(sorted)*3/4] || math.Abs(is-was) < max(leastApart, leastShare*long) {
		return c, false
	}
	least := func(values []float64) analysis.Estimate {
		e := analysis.Level(values)
		return analysis.Estimate{Value: slices.Min(values), Low: slices.Min(values), High: e.Value, Runs: len(values)}
	}
	return Changed{Metric: measure.RTTMin, Shape: analysis.Step, Before: least(before), Now: least(now), Confidence: 0.95}, true
}

// compareRoutes tells whether the newest trace of before and those of now have another router at some distance; nil: they do not, or
// there are none.
func compareRoutes(before, now []*measure.Result) *Moved {
	old, found := tracesOf(before), tracesOf(now)
	if len(old) == 0 || len(found) == 0 {
		return nil
	}
	routes := analysis.Routes(slices.Concat(old, found)) // together, so that an answer that one of them lost is known to be none
	at := len(routes) - 1
	for at >= 0 && routes[at].First.After(old[len(old)-1].Started) {
		at--
	}
	if at < 0 || at == len(routes)-1 {
		return nil
	}
	last, is := routes[at], routes[len(routes)-1]
	if is.Changed = analysis.Differing(&last, &is); len(is.Changed) == 0 {
		return nil
	}
	return &Moved{Text: RouteText(&last, &is), Before: len(last.Hops), Now: len(is.Hops), Last: last.Newest, First: is.Result}
}

func tracesOf(results []*measure.Result) (traces []*measure.Result) {
	for _, r := range results {
		if sortOf(r) == ofTrace {
			traces = append(traces, r)
		}
	}
	slices.SortStableFunc(traces, func(a, b *measure.Result) int { return a.Started.Compare(b.Started) })
	return traces
}

// newestPing is the ID of the newest Result of small pings.
func newestPing(results []*measure.Result) (id string) {
	var newest *measure.Result
	for _, r := range results {
		if smallPing(r) && (newest == nil || r.Started.After(newest.Started)) {
			newest, id = r, r.ID
		}
	}
	return id
}

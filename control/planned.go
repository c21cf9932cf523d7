package control

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// Planned lists the runs of a host, as source or target, that are not over, or of all hosts if host is "": of the plan and
// those that somebody asked for, soonest first, at most limit.
func (c *Control) Planned(host string, limit int) ([]PlannedRun, error) {
	m, now := c.Mesh(), c.config.Now()
	if _, known := m.Host(host); !known && host != "" {
		return nil, &RequestError{"host", host, "a host of the mesh file"}
	}
	c.mu.Lock()
	runs := c.current.Runs // sorted by start, and never changed
	list := []PlannedRun{}
	for id, d := range c.demands {
		list = append(list, d.planned(id))
	}
	c.mu.Unlock()
	list = slices.DeleteFunc(list, func(r PlannedRun) bool { return !r.of(host) })
	for i, found := 0, 0; i < len(runs) && found < limit; i++ {
		r := &runs[i]
		if r.Limit().Before(now) || host != "" && r.Source != host && r.Target != host {
			continue
		}
		if r := named(m, r); r.End.After(now) {
			list = append(list, r)
			found++
		}
	}
	slices.SortStableFunc(list, func(a, b PlannedRun) int { return a.Start.Compare(b.Start) })
	return list[:min(limit, len(list))], nil
}

// of says whether a run is of a host; of "" all are.
func (r *PlannedRun) of(host string) bool { return host == "" || r.Source == host || r.Target == host }

// named is a run of a plan with its end as it is reckoned. A program whose end nobody knows has its limit.
func named(m *config.Mesh, r *measure.Run) PlannedRun {
	lasts := time.Duration(r.LimitSeconds * float64(time.Second))
	if d, err := probe.Demand(r.Task); err == nil {
		if tool := m.Tool(r.Tool); tool != nil {
			d = tool.Adjust(d)
		}
		if d.DurationSeconds > 0 {
			lasts = min(lasts, time.Duration(d.DurationSeconds*float64(time.Second)))
		}
	}
	return PlannedRun{Run: r.ID, Test: r.Test, Tool: r.Tool, Source: r.Source, Target: r.Target, Start: r.Start,
		End: r.Start.Add(lasts), Exclusive: r.Exclusive}
}

// planned is a test that somebody asked for.
func (d *demand) planned(id string) PlannedRun {
	hosts := d.mesh.Hosts
	return PlannedRun{Run: id, Tool: d.tool.Name, Source: hosts[d.leg.Source].Name, Target: hosts[d.leg.Target].Name,
		Start: d.placed.Begin(), End: d.placed.End(), Exclusive: d.need.Exclusive}
}

package control

import (
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/schedule"
)

// work is a mesh in the planner's terms, and the way back.
type work struct {
	mesh     *config.Mesh
	schedule schedule.Mesh
	tests    []int            // of the schedule's tests: index in the mesh
	ends     [][2]int         // of the schedule's interfaces: host and interface in the mesh
	number   map[[2]int]int32 // and back
}

// translate turns a mesh file into what the planner takes.
func translate(m *config.Mesh) (*work, error) {
	w := &work{mesh: m, number: map[[2]int]int32{}}
	for h := range m.Hosts {
		w.addHost(h)
	}
	for _, p := range m.Phases {
		w.schedule.Phases = append(w.schedule.Phases, schedule.Phase{Name: p.Name, Timing: timing(&p.Schedule)})
	}
	for i := range m.Tests {
		if err := w.addTest(i); err != nil {
			return nil, err
		}
	}
	for i := range m.Sites {
		w.schedule.Sites = append(w.schedule.Sites, w.site(&m.Sites[i]))
	}
	for i := range m.Exclusions {
		w.exclude(&m.Exclusions[i])
	}
	return w, nil
}

func (w *work) addHost(h int) {
	host := &w.mesh.Hosts[h]
	for i, part := range host.Interfaces {
		name := host.Name
		if part.Name != "" {
			name += " " + part.Name
		}
		w.number[[2]int{h, i}] = int32(len(w.ends))
		w.ends = append(w.ends, [2]int{h, i})
		w.schedule.Interfaces = append(w.schedule.Interfaces, schedule.Interface{
			Name: name, Host: host.Name, Site: host.Site, BytesPerDay: daily(host.Budget, part.BitsPerSecond),
		})
	}
}

// daily is what a budget allows in a day over a link of that rate, 0 for all.
func daily(b config.Budget, rate float64) float64 {
	const day = 86400
	all := b.BytesPerDay
	if share := b.Share * rate * day / 8; share > 0 && (all == 0 || share < all) {
		all = share
	}
	return all
}

// addTest adds a test that is to run, with all its pairs.
func (w *work) addTest(i int) error {
	m := w.mesh
	t := &m.Tests[i]
	if !m.Active(t) {
		return nil
	}
	tool := m.Tool(t.Tool)
	test := schedule.Test{Name: t.Name, Phase: t.Schedule.Phase, Timing: timing(&t.Schedule), Slot: t.Schedule.Slot, Tries: t.Schedule.Tries}
	for source, target := range m.Pairs(t) {
		leg, err := m.Leg(t, source, target)
		if err != nil {
			return fmt.Errorf("test %s: %w", t.Name, err)
		}
		if len(test.Pairs) == 0 {
			if test.Demand, err = need(m, tool, leg); err != nil {
				return fmt.Errorf("test %s: %w", t.Name, err)
			}
		}
		test.Pairs = append(test.Pairs, schedule.Pair{
			Source: w.number[[2]int{leg.Source, leg.SourceInterface}], Target: w.number[[2]int{leg.Target, leg.TargetInterface}],
		})
	}
	if len(test.Pairs) == 0 {
		return nil
	}
	if test.Slot == 0 {
		test.Slot = lateBy
	}
	test.Avoid = !test.Demand.Exclusive
	w.tests = append(w.tests, i)
	w.schedule.Tests = append(w.schedule.Tests, test)
	return nil
}

func timing(s *config.Schedule) schedule.Timing {
	if s.Cron != "" {
		own := *s
		return schedule.Timing{Next: own.NextCron, Text: s.Cron + " " + s.Zone}
	}
	sampling := map[config.Sampling]schedule.Sampling{config.Poisson: schedule.Poisson, config.Geometric: schedule.Geometric}
	return schedule.Timing{Every: s.Every, Sampling: sampling[s.Sampling]} // what is not there is Periodic, which is 0
}

// unknownRate is what a test is taken to reach that fills a link of which no rate is known: that of most hosts' adapters.
const unknownRate = 1e9

// site says how many exclusive runs may cross a site's link at a time: as many as its rate allows of the fastest tool.
func (w *work) site(s *config.Site) schedule.Site {
	site := schedule.Site{Name: s.Name, BytesPerDay: daily(s.Budget, s.BitsPerSecond)}
	if s.Budget.BitsPerSecond == 0 {
		return site
	}
	fastest := 0.0
	for _, t := range w.schedule.Tests {
		if t.Demand.Exclusive {
			rate := t.Demand.BitsPerSecond
			if rate == 0 {
				rate = unknownRate
			}
			fastest = max(fastest, rate)
		}
	}
	site.AtOnce = 1
	if fastest > 0 {
		site.AtOnce = max(1, int(s.Budget.BitsPerSecond/fastest))
	}
	return site
}

// exclude turns an exclusion of some hours into closures; one of all hours left no pairs to plan.
func (w *work) exclude(x *config.Exclusion) {
	zone, err := time.LoadLocation(x.Zone) // "" is UTC; others were checked
	if err != nil {
		zone = time.UTC
	}
	for _, h := range x.Hours {
		days := h.Days
		if days == nil {
			days = []time.Weekday{0, 1, 2, 3, 4, 5, 6}
		}
		const day = 24 * 60
		closed := schedule.Closure{
			Tests: w.testsOf(x), Hosts: w.names(x.Hosts), Sources: w.names(x.Sources), Targets: w.names(x.Targets),
			Hours: schedule.Weekly(days, time.Duration(h.From)*time.Minute, time.Duration(h.To%day)*time.Minute, zone),
			Text:  h.String() + " " + x.Zone,
		}
		if x.Pairs != nil {
			closed.Pairs = [][2]string{}
		}
		for _, p := range x.Pairs {
			closed.Pairs = append(closed.Pairs, [2]string{w.mesh.Hosts[p[0]].Name, w.mesh.Hosts[p[1]].Name})
		}
		if x.Direction != measure.Reverse {
			w.schedule.Closures = append(w.schedule.Closures, closed)
		}
		if x.Direction != measure.Forward {
			closed.Sources, closed.Targets = closed.Targets, closed.Sources
			closed.Pairs = slices.Clone(closed.Pairs)
			for i, p := range closed.Pairs {
				closed.Pairs[i] = [2]string{p[1], p[0]}
			}
			w.schedule.Closures = append(w.schedule.Closures, closed)
		}
	}
}

// names are those of hosts; nil, which stands for any, if hosts is.
func (w *work) names(hosts []int) []string {
	if hosts == nil {
		return nil
	}
	names := []string{}
	for _, h := range hosts {
		names = append(names, w.mesh.Hosts[h].Name)
	}
	return names
}

// testsOf are the names of the tests that an exclusion is about; nil, which stands for any, if it names neither tests nor tools.
func (w *work) testsOf(x *config.Exclusion) []string {
	if len(x.Tools) == 0 && len(x.Tests) == 0 {
		return nil
	}
	names := []string{}
	for _, t := range w.schedule.Tests {
		tool := w.mesh.Test(t.Name).Tool
		if (len(x.Tools) == 0 || slices.Contains(x.Tools, tool)) && (len(x.Tests) == 0 || slices.Contains(x.Tests, t.Name)) {
			names = append(names, t.Name)
		}
	}
	return names
}

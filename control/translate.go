package control

import (
	"cmp"
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

	rates     *Rates            // that the reckoning goes by; nil: by none, or not by a Control's
	reckoning *config.Reckoning // of what its runs ask for
}

// translate turns a mesh file into what the planner takes, by what was measured; nil: nothing was.
func translate(m *config.Mesh, measured config.Measured) (*work, error) {
	w := &work{mesh: m, number: map[[2]int]int32{}, reckoning: reckon(m, measured)}
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
	daily := host.Budget.Daily(host.BitsPerSecond())
	if len(host.Interfaces) > 1 && daily > 0 {
		w.schedule.Hosts = append(w.schedule.Hosts, schedule.Host{Name: host.Name, BytesPerDay: daily})
		daily = 0 // of each
	}
	for i, part := range host.Interfaces {
		name := host.Name
		if part.Name != "" {
			name += " " + part.Name
		}
		w.number[[2]int{h, i}] = int32(len(w.ends))
		w.ends = append(w.ends, [2]int{h, i})
		w.schedule.Interfaces = append(w.schedule.Interfaces, schedule.Interface{
			Name: name, Host: host.Name, Site: host.Site, BytesPerDay: daily,
		})
	}
}

// addTest adds a test that is to run, with all its pairs of which one run is within budgets.
func (w *work) addTest(i int) error {
	m := w.mesh
	t := &m.Tests[i]
	if !m.Active(t) {
		return nil
	}
	tool := m.Tool(t.Tool)
	test := schedule.Test{Name: t.Name, Phase: t.Schedule.Phase, Timing: timing(&t.Schedule), Slot: t.Schedule.Slot, Tries: t.Schedule.Tries}
	for source, target := range m.Pairs(t) {
		leg, err := m.Leg(t, tool, source, target)
		if err != nil {
			return fmt.Errorf("test %s: %w", t.Name, err)
		}
		need, err := w.reckoning.Need(tool, leg)
		if err != nil {
			return fmt.Errorf("test %s: %w", t.Name, err)
		}
		if whose, excess := m.Beyond(leg, need); whose != "" {
			leaveOut(&test, whose, excess, t.Schedule.PerDay())
			continue
		}
		addPair(&test, schedule.Pair{
			Source: w.number[[2]int{leg.Source, leg.SourceInterface}], Target: w.number[[2]int{leg.Target, leg.TargetInterface}],
		}, need)
	}
	if len(test.Pairs)+len(test.Beyond) == 0 {
		return nil
	}
	test.Slot = cmp.Or(test.Slot, lateBy)
	test.Avoid = !test.Demand.Exclusive
	w.tests = append(w.tests, i)
	w.schedule.Tests = append(w.schedule.Tests, test)
	return nil
}

// addPair adds a pair and what its runs need. All runs of a test are planned for the first pair's time and way of running,
// and each for its own bytes.
func addPair(test *schedule.Test, pair schedule.Pair, need measure.Demand) {
	switch {
	case len(test.Pairs) == 0:
		test.Demand = need
	case test.Bytes == nil && need.Bytes != test.Demand.Bytes:
		for range test.Pairs {
			test.Bytes = append(test.Bytes, test.Demand.Bytes)
		}
	}
	test.Demand.BitsPerSecond = max(test.Demand.BitsPerSecond, need.BitsPerSecond)
	test.Pairs = append(test.Pairs, pair)
	if test.Bytes != nil {
		test.Bytes = append(test.Bytes, need.Bytes)
	}
}

// leaveOut counts a pair of which one run is more than a budget allows.
func leaveOut(test *schedule.Test, whose string, x config.Excess, perDay float64) {
	kind := schedule.OverBudget
	if x.What == "rate" {
		kind = schedule.OverRate
	}
	at := slices.IndexFunc(test.Beyond, func(b schedule.Beyond) bool { return b.Where == whose && b.What == kind })
	if at < 0 {
		at = len(test.Beyond)
		test.Beyond = append(test.Beyond, schedule.Beyond{Where: whose, What: kind, Has: x.Limit})
	}
	b := &test.Beyond[at]
	b.Pairs++
	b.Needs = max(b.Needs, x.Value)
	b.PerDay += perDay
}

func timing(s *config.Schedule) schedule.Timing {
	if s.Cron != "" {
		own := *s
		return schedule.Timing{Next: own.NextCron, Text: s.Cron + " " + s.Zone}
	}
	sampling := map[config.Sampling]schedule.Sampling{config.Poisson: schedule.Poisson, config.Geometric: schedule.Geometric}
	return schedule.Timing{Every: s.Every, Sampling: sampling[s.Sampling]} // what is not there is Periodic, which is 0
}

// site says how many exclusive runs may cross a site's link at a time: as many as its rate allows of the fastest tool.
func (w *work) site(s *config.Site) schedule.Site {
	site := schedule.Site{Name: s.Name, BytesPerDay: s.Budget.Daily(s.BitsPerSecond)}
	if s.Budget.BitsPerSecond == 0 {
		return site
	}
	fastest := 0.0
	for _, t := range w.schedule.Tests {
		if t.Demand.Exclusive {
			fastest = max(fastest, t.Demand.BitsPerSecond)
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

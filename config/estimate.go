package config

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
)

// Estimate is what a Mesh adds up to before anything starts.
type Estimate struct {
	Hosts      []Usage // as Mesh.Hosts
	Interfaces []Usage // of the hosts, in their order: "ucl eth0", or "ucl" if it has no name
	Sites      []Usage // as Mesh.Sites: what crosses their links
	Tests      []Usage // as Mesh.Tests; those that are not active have no runs
	Total      Usage

	ArchiveBytesPerYear float64 // of SQLite, with nothing deleted
}

// Usage is what measuring puts on one thing.
type Usage struct {
	Name              string   `json:"name"`
	Pairs             int      `json:"pairs"`                 // of a test; of a host those that it has a part in
	RunsPerDay        float64  `json:"runs_per_day"`          // on average, outside of excluded hours
	BytesPerDay       float64  `json:"bytes_per_day"`         // on the wire, both directions
	BusySecondsPerDay float64  `json:"busy_seconds_per_day"`  // of exclusive runs
	MeanBitsPerSecond float64  `json:"mean_bits_per_second"`  // over a day, both directions
	PeakBitsPerSecond float64  `json:"peak_bits_per_second"`  // of its fastest run
	Over              []Excess `json:"over_budget,omitempty"` // empty: within its budget
}

// Excess is a bound that a Usage is beyond.
type Excess struct {
	What  string  `json:"what"` // daily, rate, share, or time: more exclusive seconds than a day has
	Limit float64 `json:"limit"`
	Value float64 `json:"value"`
}

func (e Excess) String() string { return fmt.Sprintf("%s: %.3g of %.3g", e.What, e.Value, e.Limit) }

const (
	daySeconds = 86400
	yearDays   = 365
	// assumedRate is what a test is taken to reach that fills a link of which no rate is known: most hosts' adapters.
	assumedRate = 1e9
)

// Estimate reckons the load of all active tests, by what one run of a task asks for and what was measured, which may be nil.
func (m *Mesh) Estimate(demand func(measure.Task) measure.Demand, measured Measured) Estimate {
	reckoning := m.Reckon(func(task measure.Task) (measure.Demand, error) { return demand(task), nil })
	reckoning.Measured = measured
	e := Estimate{
		Hosts: make([]Usage, len(m.Hosts)), Sites: make([]Usage, len(m.Sites)), Tests: make([]Usage, len(m.Tests)),
		Total: Usage{Name: "all"},
	}
	first := make([]int, len(m.Hosts)) // of each host, where its interfaces begin
	for i, h := range m.Hosts {
		e.Hosts[i].Name = h.Name
		first[i] = len(e.Interfaces)
		for _, part := range h.Interfaces {
			name := h.Name
			if part.Name != "" {
				name += " " + part.Name
			}
			e.Interfaces = append(e.Interfaces, Usage{Name: name})
		}
	}
	for i, s := range m.Sites {
		e.Sites[i].Name = s.Name
	}
	for i := range m.Tests {
		e.Tests[i].Name = m.Tests[i].Name
		if m.Active(&m.Tests[i]) {
			m.load(&e, &m.Tests[i], &e.Tests[i], first, reckoning)
		}
	}
	m.judge(&e, first)
	return e
}

// load adds what one test asks for.
func (m *Mesh) load(e *Estimate, t *Test, own *Usage, first []int, reckoning *Reckoning) {
	tool := m.Tool(t.Tool)
	perDay := t.Schedule.PerDay()
	open := newOpenings(t)
	options := make([][]option, len(m.Hosts))
	for h := range options {
		options[h] = m.options(t, tool, h)
	}
	for s, d := range m.Pairs(t) {
		from, to, _ := choose(options[s], options[d]) // there is one: see unreachable
		runs := perDay * open.share(s, d)
		need, _ := reckoning.Need(tool, leg(t, tool, s, d, from, to)) // the file was checked
		for _, l := range []*Usage{own, &e.Total, &e.Hosts[s], &e.Interfaces[first[s]+from.part]} {
			l.add(runs, &need)
		}
		if s != d {
			e.Hosts[d].add(runs, &need)
			e.Interfaces[first[d]+to.part].add(runs, &need)
		}
		for _, site := range m.crossed(s, d) {
			if site >= 0 {
				e.Sites[site].add(runs, &need)
			}
		}
		e.ArchiveBytesPerYear += yearDays * runs * need.ResultBytes
	}
}

func (l *Usage) add(runs float64, need *measure.Demand) {
	l.Pairs++
	l.RunsPerDay += runs
	l.BytesPerDay += runs * need.Bytes
	l.MeanBitsPerSecond = l.BytesPerDay * 8 / daySeconds
	l.PeakBitsPerSecond = max(l.PeakBitsPerSecond, need.BitsPerSecond)
	if need.Exclusive {
		l.BusySecondsPerDay += runs * need.DurationSeconds
	}
}

// crossed returns the sites whose links lie between two hosts, -1 for a host of none.
func (m *Mesh) crossed(source, target int) (sites [2]int) {
	a, b := m.Hosts[source].site, m.Hosts[target].site
	if a == b {
		return [2]int{-1, -1}
	}
	return [2]int{a, b}
}

// slowest is the lowest rate that is known of what a leg crosses: both interfaces, and the links of both sites.
func (m *Mesh) slowest(source, target, from, to int) float64 {
	rate := lower(m.Hosts[source].Interfaces[from].BitsPerSecond, m.Hosts[target].Interfaces[to].BitsPerSecond)
	for _, site := range m.crossed(source, target) {
		if site >= 0 {
			rate = lower(rate, m.Sites[site].BitsPerSecond)
		}
	}
	return rate
}

// judge marks what is beyond its budget.
func (m *Mesh) judge(e *Estimate, first []int) {
	for i, h := range m.Hosts {
		e.Hosts[i].judge(h.Budget, h.BitsPerSecond())
		for j := range h.Interfaces {
			e.Interfaces[first[i]+j].judgeTime()
		}
	}
	for i, s := range m.Sites {
		e.Sites[i].judge(s.Budget, s.BitsPerSecond)
	}
}

func (l *Usage) judge(b Budget, rate float64) {
	for _, x := range []Excess{
		{"daily", b.BytesPerDay, l.BytesPerDay},
		{"rate", b.BitsPerSecond, l.PeakBitsPerSecond},
		{"share", b.Share * rate, l.MeanBitsPerSecond},
	} {
		if x.Limit > 0 && x.Value > x.Limit {
			l.Over = append(l.Over, x)
		}
	}
}

func (l *Usage) judgeTime() {
	if l.BusySecondsPerDay > daySeconds {
		l.Over = append(l.Over, Excess{"time", daySeconds, l.BusySecondsPerDay})
	}
}

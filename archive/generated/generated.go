// Package generated makes up the past of a mesh: Results as its hosts would have brought them home, with the shapes
// that delays have by day and week, with bursts of loss, and with routes that change. It measures nothing, and whatever
// it makes says so: in a note of each Result, and in the name of its test, which every list of series shows.
//
// The same History is the same Results, but for their IDs.
package generated

import (
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Label begins the name of every generated test. It is what a page shows.
const Label = "generated"

// Note is in the notes of every generated Result.
const Note = "generated: nobody measured this"

// Host is one host of the mesh, and where it is: round trips take as long as light does in fibre, and half as long
// again.
type Host struct {
	Name, Address string
	East, North   float64 // km from anywhere
	Site          string  // where Links lead from
}

// Test is what is measured between all pairs, both ways.
type Test struct {
	Tool  Tool
	Every time.Duration
	// Metrics are those that its Results have; nil: all of the tool.
	Metrics []measure.Metric
	// Bare: they have no distributions, which take most of the time to make.
	Bare bool
	// Start and End are those of this test alone; zero: those of the History.
	Start, End time.Time
}

// Tool is what a test measures.
type Tool string

const (
	Ping       Tool = "ping"       // twelve metrics of round trips and loss
	Throughput Tool = "throughput" // of one TCP stream
	Trace      Tool = "trace"      // the number of hops
)

// History is the past of one mesh.
type History struct {
	Hosts      []Host
	Tests      []Test
	Start, End time.Time // of the runs
	Seed       uint64

	// Links join sites; where there are some, routes lead over them, and traces have their hops.
	Links [][2]string
	// Faults are what goes wrong. Steady: nothing else does, but for single packets and bursts of loss of ten minutes at the most.
	Faults []Fault
	Steady bool
}

// pairs is how many there are, each way.
func (h *History) pairs() int { return len(h.Hosts) * (len(h.Hosts) - 1) }

// pair returns the ends of a pair.
func (h *History) pair(n int) (source, target *Host) {
	from, to := n/(len(h.Hosts)-1), n%(len(h.Hosts)-1)
	if to >= from {
		to++
	}
	return &h.Hosts[from], &h.Hosts[to]
}

// span is when a test ran, and how often.
func (h *History) span(t *Test) (start time.Time, times int) {
	start, end := t.Start, t.End
	if start.IsZero() {
		start = h.Start
	}
	if end.IsZero() {
		end = h.End
	}
	if t.Every <= 0 || !end.After(start) {
		return start, 0
	}
	return start, int((end.Sub(start) + t.Every - 1) / t.Every)
}

// Results is how many there are.
func (h *History) Results() int {
	n := 0
	for i := range h.Tests {
		_, times := h.span(&h.Tests[i])
		n += times * h.pairs()
	}
	return n
}

// testName is what a tool's test is called.
func testName(t Tool) string { return Label + " " + string(t) }

// metricsOf are what a tool measures.
var metricsOf = map[Tool][]measure.Metric{
	Ping: {
		measure.SentPackets, measure.ReceivedPackets, measure.LostPackets, measure.LossRatio, measure.DuplicatePackets,
		measure.RTTMin, measure.RTTMean, measure.RTTMedian, measure.RTTP95, measure.RTTP99, measure.RTTMax, measure.RTTStddev,
	},
	Throughput: {measure.Throughput, measure.Retransmits},
	Trace:      {measure.HopCount},
}

// metrics of a test's Results.
func (t *Test) metrics() []measure.Metric {
	if t.Metrics == nil {
		return metricsOf[t.Tool]
	}
	return t.Metrics
}

// Values is how many values all Results have together.
func (h *History) Values() int {
	n := 0
	for i := range h.Tests {
		_, times := h.span(&h.Tests[i])
		n += times * h.pairs() * len(h.Tests[i].metrics())
	}
	return n
}

// Scattered are so many hosts anywhere in a continent: their names are a prefix and a number from 1.
func Scattered(prefix string, n int, seed uint64) []Host {
	dice := History{Seed: seed}
	hosts := make([]Host, n)
	for i := range hosts {
		hosts[i] = Host{Name: fmt.Sprintf("%s%d", prefix, i+1), Address: fmt.Sprintf("10.%d.%d.1", i/250, i%250),
			East: 3000 * dice.dice(i, 7, 0), North: 2000 * dice.dice(i, 8, 0)}
	}
	return hosts
}

// Day is a small History for pages to show: the day that ends at end, of a full mesh of these hosts.
func Day(hosts []Host, end time.Time, seed uint64) History {
	return History{Hosts: hosts, Start: end.Add(-24 * time.Hour), End: end, Seed: seed, Tests: []Test{
		{Tool: Ping, Every: 5 * time.Minute},
		{Tool: Throughput, Every: 2 * time.Hour},
		{Tool: Trace, Every: 30 * time.Minute},
	}}
}

// Package schedule plans what runs when: a pure function from a mesh of interfaces, pairs and tests to runs, such that
// those that fill a link have both ends' interfaces alone.
//
// It opens no socket, reads no clock, starts nothing. It knows hosts and tests by index, and does not know what a test
// does: only how long it takes, and whether it must be alone.
//
//	Mesh -> components -> classes -> positions in a frame -> colouring of the pairs -> Run
//	        what shares   tests of    when each round of     which pairs share a
//	        interfaces    one length  each class begins      round
//	                      and timing
//
// Every run follows from the mesh, the seed and the number of its cycle. So a planner that is made again from the same
// mesh and State plans the same, and State is next to nothing.
//
// Times inside the package are nanoseconds since 1970 in UTC.
package schedule

import (
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Mesh is what is to be planned. Tests know interfaces by their index.
type Mesh struct {
	Interfaces []Interface
	Hosts      []Host
	Sites      []Site
	Phases     []Phase
	Tests      []Test
	Closures   []Closure
	// Guard is left after each exclusive run before the next one on the same interface. 0: DefaultGuard; below 0: none.
	Guard time.Duration
	// Freeze is for how long after a change of the mesh runs stay as they were. 0: DefaultFreeze.
	Freeze time.Duration
}

// DefaultGuard lets a test that began or ended late do so: clocks that NTP keeps, the start of a process on a busy
// host, and the queue that a test leaves at a bottleneck all stay well below.
const DefaultGuard = time.Second

// DefaultFreeze is longer than a new plan takes to reach all agents, which report each ten seconds.
const DefaultFreeze = 30 * time.Second

// Interface is one attachment of a host to the network: what an exclusive run needs alone.
type Interface struct {
	Name string // unique in the mesh; a pair's rhythm hangs on it
	Host string // several interfaces may be of one host
	Site string // "": of none
	// BytesPerDay is what tests may send and receive through it in all; 0: no limit.
	BytesPerDay float64
}

// Host is what several interfaces are of, if it has a limit of its own.
type Host struct {
	Name        string
	BytesPerDay float64 // that tests may send and receive through all of them
}

// Site is what several interfaces share: a link to all that is not in the site.
type Site struct {
	Name        string
	AtOnce      int     // exclusive runs that may cross its link at a time; 0: no limit
	BytesPerDay float64 // that tests may move across its link; 0: no limit
}

// Phase is a named set of tests that run together, one after the other, in fresh random order each time.
type Phase struct {
	Name   string
	Timing Timing
}

// Sampling says how the times of a test are drawn.
type Sampling int

const (
	Periodic  Sampling = iota // each pair once in each period
	Poisson                   // exponential gaps with the period as their mean (RFC 2330, section 11.1.1)
	Geometric                 // each tick of GeometricTick with the same probability (RFC 2330, section 11.1.2)
)

// GeometricTick is the grid of geometric sampling. A period below two ticks has a tick of half the period.
const GeometricTick = time.Second

// Timing is when the cycles of a test begin; in each, every pair has its turn once.
type Timing struct {
	Every    time.Duration
	Sampling Sampling
	// Next, if not nil, is the first time after its argument at which a cycle begins, as a cron expression says; Every and
	// Sampling are then not used. The zero Time: never again. It must be a function of its argument alone.
	Next func(time.Time) time.Time
	Text string // what Next stands for, to tell a changed mesh from the same
}

// Pair is a directed pair of interfaces. A tool that measures its own host has the same one at both ends.
type Pair struct{ Source, Target int32 }

// Test is a tool that is run between pairs, at times.
type Test struct {
	Name   string // unique
	Pairs  []Pair
	Demand measure.Demand
	// Bytes, if not nil, are those of each pair's run, in place of Demand's.
	Bytes []float64
	// Beyond are the pairs that are not among Pairs, since one run of theirs is more than a budget allows: for Findings.
	Beyond []Beyond
	Timing Timing        // not used with a Phase
	Phase  string        // "": of none
	Slot   time.Duration // after its time a run may still begin, if it is late, failed, or has to wait for room
	Tries  int           // at most, within the slot; 0: 1. An agent begins them; a plan has one run for all of them
	// Avoid, for a light test, puts a run off within its slot while an exclusive run uses either interface; where that
	// cannot be helped it runs as drawn.
	Avoid bool
}

// Beyond are pairs of a test whose runs are each more than somebody may do.
type Beyond struct {
	Where  string // host or site
	What   Kind   // OverBudget or OverRate
	Pairs  int
	Needs  float64 // of the run that needs most: bytes, of OverRate bit/s
	Has    float64
	PerDay float64 // runs of all these pairs
}

// Run is one planned execution of a test.
type Run struct {
	Start    int64         // nanoseconds since 1970, UTC
	Duration time.Duration // as the Demand says
	Slot     time.Duration // after Start it may still begin: of an exclusive run, only as far as the plan leaves room
	Cycle    int64         // of its test: test, pair and cycle name a run, except of Poisson and geometric tests
	Test     int32
	Pair
}

// Begin is when the run starts.
func (r *Run) Begin() time.Time { return time.Unix(0, r.Start).UTC() }

// End is when the run is over if it begins at its start.
func (r *Run) End() time.Time { return time.Unix(0, r.Start+int64(r.Duration)).UTC() }

// Kind says what a Finding is about.
type Kind string

const (
	CycleTooLong Kind = "cycle-longer-than-period" // one cycle of exclusive runs takes longer than the period
	Overloaded   Kind = "overloaded"               // tests that share interfaces need more time together than there is
	RunTooLong   Kind = "run-longer-than-period"   // one run takes longer than the period
	OverBudget   Kind = "over-budget"              // more bytes a day than an interface, host or site may move
	OverRate     Kind = "over-rate"                // a run is faster than a host or site may be used
)

// Finding is a wish that cannot be met, and what the plan does instead: it stretches the test's period to NeedsSeconds.
// Of a test by cron it leaves out times, so that there is one in such a period at most. With PairsLeftOut, of which one run
// is too much, it leaves those pairs out altogether.
type Finding struct {
	Kind         Kind    `json:"kind"`
	Test         string  `json:"test"`
	Where        string  `json:"where,omitempty"` // interface, host or site, of OverBudget and OverRate
	NeedsSeconds float64 `json:"needs_seconds"`   // 0 with PairsLeftOut
	HasSeconds   float64 `json:"has_seconds"`

	RunsLeftOutPerDay float64 `json:"runs_left_out_per_day"`
	PairsLeftOut      int     `json:"pairs_left_out,omitempty"`
	NeedsBytes        float64 `json:"needs_bytes,omitempty"` // of one run of a pair that is left out
	HasBytes          float64 `json:"has_bytes,omitempty"`   // a day

	NeedsBitsPerSecond float64 `json:"needs_bits_per_second,omitempty"` // of such a run, of OverRate
	HasBitsPerSecond   float64 `json:"has_bits_per_second,omitempty"`
}

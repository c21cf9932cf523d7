package archive

import (
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// MeasuredQuery asks what was ever measured in the series that Match selects, and how often in [From, To). Both are needed.
type MeasuredQuery struct {
	Match    Match
	From, To time.Time
}

// Measured is a metric that a tool measured in a role.
type Measured struct {
	Metric measure.Metric `json:"metric"`
	Tool   string         `json:"tool"`
	Role   measure.Role   `json:"role"`
	Series int            `json:"series"` // of how many pairs and tests
	Runs   uint64         `json:"runs"`   // in the span
	Latest time.Time      `json:"latest"` // when the newest began, of any time

	// Estimated says that the query is of more than 20,000 series, and that Runs is reckoned from a sample of them, the same
	// each time: within a few per cent where many pairs measure, less exact of a tool that few of them have.
	Estimated bool `json:"estimated,omitempty"`
}

// SeriesQuery asks for what was measured over a span. The series that Match selects are drawn as one: their
// distributions are merged, so that percentiles over many paths or tests are those of all values together.
type SeriesQuery struct {
	Match     Match
	From, To  time.Time     // both needed
	Step      time.Duration // of a bucket; 0: the whole span in one
	Quantiles []float64     // 0..1, such as 0.5 and 0.95
}

// Series is the answer to a SeriesQuery. Buckets without a value are left out: Gaps says why they are empty.
type Series struct {
	// Step is what was asked for, made a multiple of Level; buckets begin at multiples of it since 1970. It is larger
	// than what was asked for when what is that fine is no longer kept.
	Step    time.Duration `json:"-"`
	Level   time.Duration `json:"-"` // of the rollup that was read, the finest of several; 0: the points themselves
	Buckets []Bucket      `json:"buckets"`
}

// Merged is the distribution of values, one of each run. Count, Min and Max are exact, Mean is to rounding, Quantiles
// are within 1 % of the value, as of stat.Sketch. Value is the one number that stands for them, as measure.Metric.Merge says: of a
// loss, what was lost of all that was sent.
//
// Of a metric that is a quantile or the mean of samples, such as rtt_p95_seconds, Value is that of the samples of all runs: so a year's
// median is a median of samples, and the least is no larger than the median, and that than the 95th percentile. Where only some runs
// say their samples, the value of each other one stands for as many samples as a run has on average; where none does, Value is the
// median of the values. A Bucket's Quantiles are of the same samples, where there are any (OfSamples), so that those of all metrics that
// are of one distribution are alike; else they are of the values, as a Cell's, and as Min, Mean and Max always are.
type Merged struct {
	Value     float64   `json:"value"`
	Count     uint64    `json:"count"`
	Samples   uint64    `json:"samples,omitempty"` // that Value is of, as runs say them; 0: it is of the values
	Min       float64   `json:"min"`
	Mean      float64   `json:"mean"`
	Max       float64   `json:"max"`
	Quantiles []float64 `json:"quantiles,omitempty"` // as asked for
}

// Bucket is what was measured in one step.
type Bucket struct {
	Start time.Time `json:"start"`
	Merged
	OfSamples bool `json:"-"` // Quantiles are of samples, not of the values of runs
}

// MatrixQuery asks for what was measured over a span between all pairs. The series of a pair that Match selects are
// drawn as one. Of a mesh of hundreds of hosts, spans of whole hours read least; and an answer is remembered until
// something changes on one of its days: baselines want to be of whole ones that are over. Where an end of the span is
// finer than what is kept that long, the coarser buckets that begin in the span count whole.
type MatrixQuery struct {
	Match     Match
	From, To  time.Time // both needed
	Quantiles []float64 // 0..1, of the values of runs: by how these differ the next one is judged
}

// Cell is what was measured of one pair.
type Cell struct {
	Pair
	Merged
}

// ResultQuery selects Results by patterns as in Match; a field left empty does not select. Source and Target are those of the
// data: of a Result of the way measure.Reverse, the target is the source.
type ResultQuery struct {
	Source, Target, Test, Tool, Kind, Role string
	Subject                                string // as in Match
	Status                                 measure.Status
	From, To                               time.Time // of Started
	Cursor                                 string    // ResultPage.Next of the page before
	Limit                                  int       // Results a page; 0: 100; at most 1000
}

// ResultPage is a part of a list. A page may be shorter than asked for and still have a next one.
type ResultPage struct {
	Results []*measure.Result `json:"results"`
	Next    string            `json:"next,omitempty"` // "": that was all
}

// MissQuery selects misses by patterns as in Match. Source and Target are those of the data, as in ResultQuery.
type MissQuery struct {
	Source, Target, Test, Tool string
	From, To                   time.Time // of Start
	Limit                      int       // 0: 1000
}

// GapQuery asks for the times in a span in which series have no value.
type GapQuery struct {
	Match    Match // Metric too: a Result without it is a gap of GapFailed
	From, To time.Time
	// Longest is how long nothing may be planned before that is a gap. 0: ten times the median distance of the runs in the
	// newest week of the span, which a Poisson schedule exceeds once in a thousand runs; of two, four, ... weeks if there
	// are no two runs in it.
	Longest time.Duration
	// Least is how long a gap is that is worth telling: shorter ones are left out. 0: all are told, which takes many times
	// as long for a span of months. Of two hours and more, only the points about such gaps are read.
	Least time.Duration
}

// GapKind says why there is no value.
type GapKind string

const (
	GapMissed    GapKind = "missed"    // runs were planned and no Result came
	GapFailed    GapKind = "failed"    // runs took place and did not measure this metric
	GapUnplanned GapKind = "unplanned" // nothing was planned
)

// Gap is a time without a value, for one reason: from the last run before it to the next one after it, or to the end of
// the span.
type Gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Kind GapKind   `json:"kind"`
	Runs int       `json:"runs"`          // that were missed or failed
	Why  string    `json:"why,omitempty"` // of the last miss
}

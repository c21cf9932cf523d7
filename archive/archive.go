// Package archive keeps every Result that a mesh brings home, whole, and answers what was when: series, percentiles
// over any span, latest values, lists of Results, and the gaps between them.
//
// It files, rolls up, prunes, backs up and answers. It measures nothing, plans nothing, draws nothing, and writes no
// foreign format: packages export and chart do that over the interface here. There are two backends behind it, one
// SQLite file and a PostgreSQL database, with one behaviour, which one suite of tests holds them to.
//
// How a Result becomes history (the left column is on disk when Put returns):
//
//	Put -> block    the Results whole, as zstd-compressed JSON lines, those of one tool and day together
//	       result   ID -> block: what is filed once is known for ever after
//	       journal  its numbers ---- also in memory ----> move, minutes or millions of numbers later, in one transaction:
//	                                                        points   20 minutes of one stream, column by column
//	                                                        rollup   distributions over 1 min, 5 min, 1 h and 1 d
//	                                                        and the journal forgets them
//
// A query reads what was moved and adds what is still in memory; a restart reads the journal back into memory. So what
// a query says never depends on when something was moved, and a kill at any moment changes no answer.
package archive

import (
	"context"
	"iter"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Archive is where Results are kept. Its methods may be called at once from many goroutines. Times are kept to the
// nanosecond and returned in UTC; spans are [from, to), and a zero From or To leaves that side open.
type Archive interface {
	// Put files Results: on disk when it returns nil, each exactly once by its ID, whichever came first. Calls at the same
	// time share a commit. It waits while the queue is full, until ctx ends. After an error nothing is lost by putting
	// the same Results again. Errors that a caller can act upon: *Invalid (nothing of the call was filed), ErrFull,
	// ErrClosed. A Result older than what the retention rules keep is acknowledged and not filed.
	Put(ctx context.Context, results []*measure.Result) error
	// PutMisses files runs that did not take place. One whose Result is there is passed over; a Result that comes later
	// removes it.
	PutMisses(ctx context.Context, misses []measure.Miss) error
	// Update replaces Results that are filed by those of the same ID, and their points and rollups with them: how the
	// output of an external program is read again by a better parser. Only Status, Error, Metrics, Distributions, Samples and
	// Notes may differ from what is filed. A Result that is not filed, or not any more, is an error of ErrUnknown. Rollups of
	// times whose points are pruned stay as they were.
	Update(ctx context.Context, results []*measure.Result) error

	// Result returns one Result, with its samples unless they are pruned; ErrUnknown if there is none.
	Result(ctx context.Context, id string) (*measure.Result, error)
	// Results lists Results, newest first, a page at a time.
	Results(ctx context.Context, q ResultQuery) (ResultPage, error)
	// All goes through what Results lists, newest first, page by page; q.Cursor and q.Limit say where it starts and how
	// large its steps are. What is filed meanwhile may be left out. It ends after the first error.
	All(ctx context.Context, q ResultQuery) iter.Seq2[*measure.Result, error]

	// Pairs lists who was measured to whom, in order.
	Pairs(ctx context.Context) ([]Pair, error)
	// Keys lists the series that there are, in order.
	Keys(ctx context.Context, m Match) ([]Key, error)
	// Measured tells which metrics the series have that q selects, by which tool and in which role, in order of metrics, that
	// with most runs first.
	Measured(ctx context.Context, q MeasuredQuery) ([]Measured, error)
	// Latest returns the newest value of each series that m matches, in the order of Keys.
	Latest(ctx context.Context, m Match) ([]Latest, error)
	// Points goes through the values of one series in order of time, as long as they are kept. It ends after the first
	// error.
	Points(ctx context.Context, key Key, from, to time.Time) iter.Seq2[Point, error]
	// Series returns the distribution of what was measured, step by step.
	Series(ctx context.Context, q SeriesQuery) (*Series, error)
	// Matrix returns the distribution of a whole span for every pair that has a value in it, ordered by source and target:
	// what Series says of each, in one pass. The answer is shared with others who ask the same: do not change it.
	Matrix(ctx context.Context, q MatrixQuery) ([]Cell, error)
	// Misses lists runs that did not take place, newest first.
	Misses(ctx context.Context, q MissQuery) ([]measure.Miss, error)
	// Gaps lists the times without a value, in order, and tells why there is none. Where points are no longer kept, it
	// lists the hours without a value, of which runs that failed are not known any more: they are as if unplanned.
	Gaps(ctx context.Context, q GapQuery) ([]Gap, error)

	// Prune deletes what the retention rules no longer keep at the time now, in small transactions between which others
	// write, and gives the space back. Ended by ctx, it has deleted a part, and the next call does the rest.
	Prune(ctx context.Context, now time.Time) (Pruned, error)
	// Backup writes all that is in the archive to a new file, while the archive goes on: what was acknowledged before the
	// call is in it. The file is JSON lines compressed with zstd, the same for both backends; see docs/archive.md. It
	// appears under its name when it is whole.
	Backup(ctx context.Context, path string) error
	// Restore reads a Backup into this archive, which must be empty (ErrNotEmpty).
	Restore(ctx context.Context, path string) error
	// Stats says what the archive is doing.
	Stats() Stats
	// Close waits for calls under way, moves what is in memory, and closes the database. Calls after it fail with
	// ErrClosed.
	Close() error
}

// Pair is who was measured to whom: names of hosts, or addresses where there was no name.
type Pair struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// Key names one series: the values of one metric that one tool measured on one path for one test and one role, of
// one subject or none. Source and
// Target are the names in the Result, or the address where the name is empty, in the order in which the data went: what
// measure.Result.Parts says. Tool is the Result's Kind where it has no tool.
type Key struct {
	Source string       `json:"source"`
	Target string       `json:"target"`
	Test   string       `json:"test,omitempty"` // "": on demand, or not of a mesh
	Tool   string       `json:"tool"`
	Role   measure.Role `json:"role"` // planned, demand, or diagnosis/STEP, as of measure.Role.Series
	// Subject is what the Results are of beside their pair, KIND/NAME as measure.Subject writes it; "": nothing.
	Subject string         `json:"subject,omitempty"`
	Metric  measure.Metric `json:"metric"`
}

// Match selects series. Each field is a pattern as of path.Match, except that "*" also matches "/"; "" matches all.
type Match struct {
	Source, Target, Test, Tool, Role, Metric string
	Subject                                  string // of Key.Subject; here "" matches series without one, and "*" all
}

// Exactly returns the Match of this series and, where Test or Role is empty, of its like from every test or role.
func (k Key) Exactly() Match {
	return Match{literal(k.Source), literal(k.Target), literal(k.Test), literal(k.Tool), literal(string(k.Role)),
		literal(string(k.Metric)), literal(k.Subject)}
}

// Point is one value of a series. Time is when the measurement began.
type Point struct {
	Time  time.Time `json:"time"`
	Value float64   `json:"value"`
}

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

// Latest is the newest Point of a series.
type Latest struct {
	Key
	Point
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

// Pruned counts what one Prune deleted row by row; what went with a whole table of PostgreSQL is not in it.
type Pruned struct {
	Results int64
	Samples int64 // Results that were left without
	Points  int64 // rows, of 20 minutes of a stream
	Rollups int64 // rows, of neighbouring buckets
	Misses  int64
}

// Stats says what the archive is doing. The counts begin at Open.
type Stats struct {
	Streams    int   // (source, target, test, tool, kind) that there are
	Filed      int64 // Results
	Duplicates int64 // Results that came again
	TooOld     int64 // Results that the retention rules no longer keep
	Queued     int   // Results that wait to be committed
	Pending    int   // values that are in journal and memory and not yet in points and rollups
	Commits    int64
	MoveError  string // why values could not be moved when that was tried last; ""
}

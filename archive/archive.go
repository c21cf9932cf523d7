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

// Latest is the newest Point of a series.
type Latest struct {
	Key
	Point
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

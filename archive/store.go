package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// store is a backend: what SQLite and PostgreSQL do each in their own way. All else is SQL that both speak, over tx.
// Everything but view is called by the writer alone, one call at a time.
type store interface {
	// view calls f with a read transaction: everything that f reads is of one moment.
	view(ctx context.Context, f func(*tx) error) error
	// change calls f with a write transaction, which is on disk when change returns nil.
	change(ctx context.Context, f func(*tx) error) error
	// file writes a batch in a transaction of change. An ID that is filed already is an error of errFiled.
	file(ctx context.Context, t *tx, b *batch) error
	// write adds points and puts rollups, in order of their keys, in a transaction of change.
	write(ctx context.Context, t *tx, points []pointsRow, rollups []rollupRow) error
	// writeLatest replaces the latest values of streams, in a transaction of change.
	writeLatest(ctx context.Context, t *tx, rows []latestRow) error
	// drop drops whole tables of blocks, points and rollups that end before a day, a slot, and a second for each level;
	// errBusy if they are being read.
	drop(ctx context.Context, t *tx, day, slot int64, rollups [len(Levels)]int64) error
	// giveBack returns a part of the free space to the file system, and says whether there is more.
	giveBack(ctx context.Context) (more bool, err error)
	// explain makes an error of the backend one of ours where there is one: ErrFull, errFiled, errBusy.
	explain(err error) error
	close() error
}

// errFiled says that a batch has a Result that is filed already.
var errFiled = errors.New("a result of this ID is filed")

// errBusy says that somebody else uses what is to be changed.
var errBusy = errors.New("tables are in use")

// batch is what one commit files.
type batch struct {
	streams    []*stream // new ones
	metrics    []metricID
	names      []string // of metrics, the same order
	blocks     []blockRow
	results    []resultRow
	generation int64
	journalID  int64
	journal    []byte
}

// table is rows to be added to a table. Values are of Go types that both databases' drivers take for the column's.
type table struct {
	name    string
	columns []string
	n       int
	row     func(i int) []any
}

// tables are what a batch adds, in the order in which it must.
func (b *batch) tables() []table {
	return []table{
		{"metric", []string{"id", "name"}, len(b.metrics), func(i int) []any { return []any{int32(b.metrics[i]), b.names[i]} }},
		{"stream", []string{"id", "source", "target", "test", "tool", "kind", "role", "subject", "latest"}, len(b.streams), func(i int) []any {
			k := b.streams[i].key
			return []any{int64(b.streams[i].id), k.source, k.target, k.test, k.tool, k.kind, string(k.role), k.subject, b.streams[i].bytes()}
		}},
		{"block", []string{"id", "day", "tool", "samples", "data"}, len(b.blocks), func(i int) []any {
			r := &b.blocks[i]
			return []any{r.id, r.day, r.tool, int32(oneIf(r.samples)), r.data}
		}},
		{"result", []string{"id", "time", "stream", "status", "block", "line"}, len(b.results), func(i int) []any {
			r := &b.results[i]
			return []any{r.id, r.time, int64(r.stream), int32(r.status), r.block, int32(r.line)}
		}},
		{"journal", []string{"id", "generation", "data"}, int(oneIf(len(b.journal) > 0)),
			func(int) []any { return []any{b.journalID, b.generation, b.journal} }},
	}
}

// pointsTable is rows of points.
func pointsTable(points []pointsRow) table {
	return table{"points", []string{"slot", "stream", "generation", "data"}, len(points), func(i int) []any {
		p := &points[i]
		return []any{p.slot, int64(p.stream), p.generation, p.data}
	}}
}

func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

type blockRow struct {
	id, day int64
	tool    string
	samples bool
	data    []byte
}

type resultRow struct {
	id     []byte
	time   int64
	stream streamID
	status byte
	block  int64
	line   int
}

type pointsRow struct {
	slot       int64
	stream     streamID
	generation int64
	data       []byte
}

type rollupRow struct {
	rollupKey
	data []byte
	old  bool // there is a row of this key
}

type latestRow struct {
	stream streamID
	data   []byte
}

// tx is a transaction in SQL that both backends speak, with $1, $2, ... for arguments.
type tx struct{ *sql.Tx }

func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := t.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// each runs a query and calls f for every row, after its columns were read into to.
func (t *tx) each(ctx context.Context, query string, args []any, to []any, f func() error) error {
	rows, err := t.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one reads a single row, and says whether there was one.
func (t *tx) one(ctx context.Context, query string, args []any, to ...any) (bool, error) {
	err := t.QueryRowContext(ctx, query, args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// among is a condition that a column is one of these numbers, and its arguments. SQL takes only so many arguments, so
// the numbers stand in the text.
func among[T ~int64](column string, numbers []T) string {
	if len(numbers) == 0 {
		return "0 = 1"
	}
	out := []byte(column + " IN (")
	for _, n := range numbers {
		out = append(strconv.AppendInt(out, int64(n), 10), ',')
	}
	out[len(out)-1] = ')'
	return string(out)
}

// noteProgress writes how far moving has come, in the transaction of what was moved. After the last stream of a
// generation the journal forgets it.
func noteProgress(ctx context.Context, t *tx, generation int64, upto streamID, last bool) error {
	at := progress{generation - 1, upto}
	if last {
		at = progress{generation, 0}
		if _, err := t.exec(ctx, "DELETE FROM journal WHERE generation <= $1", generation); err != nil {
			return fmt.Errorf("forget journal: %w", err)
		}
	}
	return setState(ctx, t, map[string]int64{"moved": at.moved, "upto": int64(at.upto)})
}

func setState(ctx context.Context, t *tx, state map[string]int64) error {
	for name, v := range state {
		if _, err := t.exec(ctx, "UPDATE state SET value = $1 WHERE name = $2", v, name); err != nil {
			return fmt.Errorf("write state: %w", err)
		}
	}
	return nil
}

// eachOf calls f for every row of a query that ends in a list of keys, of which SQL takes only so many at a time.
func (t *tx) eachOf(ctx context.Context, query string, keys [][]byte, to []any, f func() error) error {
	for some := range slices.Chunk(keys, 200) {
		args := make([]any, len(some))
		for i := range some {
			args[i] = some[i]
		}
		if err := t.each(ctx, query+" IN ("+dollars(len(some))+")", args, to, f); err != nil {
			return err
		}
	}
	return nil
}

// dollars is $1, $2, ... for n arguments.
func dollars(n int) string {
	var out strings.Builder
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "$%d", i+1)
	}
	return out.String()
}

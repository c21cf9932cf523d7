package archive

import (
	"context"
	"fmt"
	"strings"
)

// rows is a prepared statement and what to execute it with, row by row.
type rows struct {
	query string
	n     int
	args  func(i int) []any
}

// run executes statements in a transaction, one after the other until one fails: after some errors SQLite has ended
// the transaction, and what came next would be one of its own.
func (s *sqliteStore) run(ctx context.Context, t *tx, all ...rows) error {
	for _, r := range all {
		if r.n == 0 {
			continue
		}
		statement, err := s.statement(ctx, r.query)
		if err != nil {
			return fmt.Errorf("prepare %q: %w", r.query, err)
		}
		ctx := context.WithoutCancel(ctx) // else each row costs a goroutine that waits for ctx to end
		inside := t.StmtContext(ctx, statement)
		for i := range r.n {
			if _, err := inside.ExecContext(ctx, r.args(i)...); err != nil {
				return fmt.Errorf("%.40s: %w", r.query, err)
			}
		}
	}
	return nil
}

// add is the statement that adds rows to a table.
func (t table) add() rows {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.columns)), ", ")
	return rows{fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.name, strings.Join(t.columns, ", "), marks), t.n, t.row}
}

// file implements store.
func (s *sqliteStore) file(ctx context.Context, t *tx, b *batch) error {
	var all []rows
	for _, one := range b.tables() {
		all = append(all, one.add())
	}
	return s.run(ctx, t, all...)
}

// write implements store.
func (s *sqliteStore) write(ctx context.Context, t *tx, points []pointsRow, rollups []rollupRow) error {
	return s.run(ctx, t,
		pointsTable(points).add(),
		rows{"INSERT OR REPLACE INTO rollup (level, start, series, data) VALUES (?, ?, ?, ?)", len(rollups),
			func(i int) []any {
				r := &rollups[i]
				return []any{int64(r.level), r.start, int64(r.series), r.data}
			}})
}

// writeLatest implements store.
func (s *sqliteStore) writeLatest(ctx context.Context, t *tx, latest []latestRow) error {
	return s.run(ctx, t, rows{"UPDATE stream SET latest = ? WHERE id = ?", len(latest), func(i int) []any {
		return []any{latest[i].data, int64(latest[i].stream)}
	}})
}

// drop implements store: in one file there is nothing to drop.
func (s *sqliteStore) drop(context.Context, *tx, int64, int64, [len(Levels)]int64) error { return nil }

// How much of the file may be free for what comes next, and how many pages are moved at a time to shorten it.
const (
	freeShare     = 16
	pagesGivenOut = 1000
)

// giveBack implements store.
func (s *sqliteStore) giveBack(ctx context.Context) (more bool, err error) {
	if err := s.connect(ctx); err != nil {
		return false, err
	}
	var free, pages int64
	for query, to := range map[string]*int64{"PRAGMA freelist_count": &free, "PRAGMA page_count": &pages} {
		if err := s.writer.QueryRowContext(ctx, query).Scan(to); err != nil {
			return false, fmt.Errorf("count free pages: %w", err)
		}
	}
	if free <= pages/freeShare {
		return false, nil
	}
	if _, err := s.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pagesGivenOut)); err != nil {
		return false, fmt.Errorf("shorten file: %w", err)
	}
	return true, nil
}

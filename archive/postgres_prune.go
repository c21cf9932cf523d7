package archive

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
)

// What PostgreSQL says of the bounds of a partition: FOR VALUES FROM ('0', '1763683200') TO ('0', '1763769600').
var partitionEnd = regexp.MustCompile(`TO \('?(\d+)'?(?:, '?(\d+)'?)?\)$`)

// drop implements store.
func (s *postgresStore) drop(ctx context.Context, t *tx, day, slot int64, rollups [len(Levels)]int64) error {
	var table, name, bounds string
	var expired []string
	query := `SELECT p.relname, c.oid::regclass::text, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i
		JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
		WHERE i.inhparent IN ('block'::regclass, 'points'::regclass, 'rollup'::regclass)`
	err := t.each(ctx, query, nil, []any{&table, &name, &bounds}, func() error {
		end := partitionEnd.FindStringSubmatch(bounds)
		if end == nil {
			return fmt.Errorf("partition %s has bounds %s", name, bounds)
		}
		first, _ := strconv.ParseInt(end[1], 10, 64)
		second, _ := strconv.ParseInt(end[2], 10, 64)
		if table == "block" && first <= day || table == "points" && first <= slot ||
			table == "rollup" && first < int64(len(Levels)) && second <= rollups[first] {
			expired = append(expired, name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list partitions: %w", err)
	}
	clear(s.parts)
	if _, err := t.exec(ctx, "SET LOCAL lock_timeout = '2s'"); err != nil { // all queries wait behind this one
		return fmt.Errorf("limit waiting: %w", err)
	}
	for _, name := range expired {
		if _, err := t.exec(ctx, "DROP TABLE "+name); err != nil {
			return fmt.Errorf("drop partition %s: %w", name, err)
		}
	}
	return nil
}

// giveBack implements store: dropped tables are given back at once, and what was deleted in others PostgreSQL uses
// again.
func (s *postgresStore) giveBack(context.Context) (bool, error) { return false, nil }

package archive

import (
	"context"
	"fmt"
	"time"
)

// How much time one partition of rollups holds at each of the Levels, in seconds: a few hundred MB of a large mesh, and
// few enough partitions for a year.
var rollupPartition = [len(Levels)]int64{24 * 3600, 8 * 24 * 3600, 128 * 24 * 3600, 4096 * 24 * 3600}

// A row of points or rollups is a few kB: it should stand in its page, not in a table of its own. Rows of the coarse
// levels are replaced time and again: what is left free in their pages takes the new one, so that no index needs to
// change.
const (
	writtenOnce  = "WITH (toast_tuple_target = 8160)"
	writtenOften = "WITH (toast_tuple_target = 8160, fillfactor = 50)"
)

var rollupOptions = [len(Levels)]string{writtenOnce, writtenOnce, writtenOften, writtenOften}

// partition makes sure that a partition is there, for values from (of one or two columns) up to to.
func (s *postgresStore) partition(ctx context.Context, t *tx, table, name, from, to, options string) error {
	if s.parts[name] {
		return nil
	}
	var there bool
	if _, err := t.one(ctx, "SELECT to_regclass($1) IS NOT NULL", []any{name}, &there); err != nil {
		return fmt.Errorf("find partition %s: %w", name, err)
	}
	if !there {
		// Not CREATE ... PARTITION OF, which would wait for all that reads the table, and make all that comes wait.
		if _, err := t.exec(ctx, fmt.Sprintf("CREATE TABLE %s (LIKE %s INCLUDING ALL) %s", name, table,
			options)); err != nil {
			return fmt.Errorf("make partition %s: %w", name, err)
		}
		if _, err := t.exec(ctx, fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)", table, name,
			from, to)); err != nil {
			return fmt.Errorf("add partition %s: %w", name, err)
		}
	}
	s.parts[name] = true
	return nil
}

func dayName(table string, d int64) string {
	return table + "_" + time.Unix(d*24*3600, 0).UTC().Format("20060102")
}

func (s *postgresStore) blockPartition(ctx context.Context, t *tx, d int64) error {
	return s.partition(ctx, t, "block", dayName("block", d), fmt.Sprint(d), fmt.Sprint(d+1), "")
}

func (s *postgresStore) pointsPartition(ctx context.Context, t *tx, h int64) error {
	d := floorDiv(h, slotsInDay)
	return s.partition(ctx, t, "points", dayName("points", d), fmt.Sprint(d*slotsInDay), fmt.Sprint((d+1)*slotsInDay),
		writtenOnce)
}

func (s *postgresStore) rollupPartition(ctx context.Context, t *tx, level int, start int64) error {
	span := rollupPartition[level]
	from := floorDiv(start, span) * span
	name := dayName(fmt.Sprintf("rollup_%d", int64(Levels[level]/time.Second)), from/(24*3600))
	return s.partition(ctx, t, "rollup", name, fmt.Sprintf("%d, %d", level, from), fmt.Sprintf("%d, %d", level, from+span),
		rollupOptions[level])
}

// file implements store.
func (s *postgresStore) file(ctx context.Context, t *tx, b *batch) error {
	for i := range b.blocks {
		if err := s.blockPartition(ctx, t, b.blocks[i].day); err != nil {
			return err
		}
	}
	for _, rows := range b.tables() {
		if err := s.copyIn(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

// write implements store.
func (s *postgresStore) write(ctx context.Context, t *tx, points []pointsRow, rollups []rollupRow) error {
	for i := range points {
		if err := s.pointsPartition(ctx, t, points[i].slot); err != nil {
			return err
		}
	}
	if err := s.copyIn(ctx, pointsTable(points)); err != nil {
		return err
	}
	return s.writeRollups(ctx, t, rollups)
}

// writeLatest implements store.
func (s *postgresStore) writeLatest(ctx context.Context, t *tx, rows []latestRow) error {
	ids, data := make([]int64, len(rows)), make([][]byte, len(rows))
	for i, r := range rows {
		ids[i], data[i] = int64(r.stream), r.data
	}
	_, err := t.exec(ctx, `UPDATE stream s SET latest = i.latest
		FROM unnest($1::bigint[], $2::bytea[]) AS i (id, latest) WHERE s.id = i.id`, ids, data)
	return err
}

// writeRollups adds the rows that are new, and replaces the others.
func (s *postgresStore) writeRollups(ctx context.Context, t *tx, rows []rollupRow) error {
	var added, changed []*rollupRow
	for i := range rows {
		r := &rows[i]
		if r.old {
			changed = append(changed, r)
			continue
		}
		added = append(added, r)
		if err := s.rollupPartition(ctx, t, r.level, r.start); err != nil {
			return err
		}
	}
	columns := []string{"level", "start", "series", "data"}
	values := func(r *rollupRow) []any { return []any{int32(r.level), r.start, int64(r.series), r.data} }
	if err := s.copyIn(ctx, table{"rollup", columns, len(added), func(i int) []any { return values(added[i]) }}); err != nil {
		return err
	}
	return s.replaceRollups(ctx, t, changed)
}

func (s *postgresStore) replaceRollups(ctx context.Context, t *tx, rows []*rollupRow) error {
	if len(rows) == 0 {
		return nil
	}
	levels, starts := make([]int32, len(rows)), make([]int64, len(rows))
	series, data := make([]int64, len(rows)), make([][]byte, len(rows))
	for i, r := range rows {
		levels[i], starts[i], series[i], data[i] = int32(r.level), r.start, int64(r.series), r.data
	}
	_, err := t.exec(ctx, `UPDATE rollup r SET data = i.data
		FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bytea[]) AS i (level, start, series, data)
		WHERE r.level = i.level AND r.start = i.start AND r.series = i.series`, levels, starts, series, data)
	if err != nil {
		return fmt.Errorf("replace rollups: %w", err)
	}
	return nil
}

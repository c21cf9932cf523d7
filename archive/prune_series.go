package archive

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// points deletes expired points, a slot of all streams at a time. Where rules tell metrics apart, a slot is written
// again without those that have expired.
func (p *pruning) points(ctx context.Context) error {
	first, last := int64(1)<<40, int64(-1) // slots in which something may have expired now
	for tool, metrics := range p.tools {
		periods := []time.Duration{p.k.keeps(tool).Points}
		for _, name := range metrics {
			periods = append(periods, p.k.keepsSeries(tool, name).Points)
		}
		for _, kept := range periods {
			if !p.expires(kept) {
				continue
			}
			first, last = min(first, slotOf(p.since(kept))), max(last, slotOf(max(0, expiry(p.now, kept)))-1)
		}
	}
	query := fmt.Sprintf("SELECT slot, count(*) FROM points WHERE slot >= %d AND slot <= %d GROUP BY slot ORDER BY slot",
		first, last)
	return p.together(ctx, query, p.slot)
}

// together does f for every number that a query lists with how many rows it has: many numbers in one transaction where
// they have few rows, and many transactions for one where it has many, of which f does its part from a row on and says
// where it ended; -1: all is done.
func (p *pruning) together(ctx context.Context, query string, f func(ctx context.Context, t *tx, n int64,
	from int64) (next int64, err error)) error {
	var n, rows int64
	var numbers, sizes []int64
	if err := p.read(ctx, query, []any{&n, &rows}, func() error {
		numbers, sizes = append(numbers, n), append(sizes, rows)
		return nil
	}); err != nil {
		return err
	}
	for from := int64(0); len(numbers) > 0; {
		_, err := p.change(ctx, func(ctx context.Context, t *tx) (int64, error) {
			for done := int64(0); len(numbers) > 0 && done < rowsInPrune; {
				next, err := f(ctx, t, numbers[0], from)
				if from = max(0, next); err != nil || next >= 0 {
					return 0, err
				}
				done += 1 + sizes[0]
				numbers, sizes = numbers[1:], sizes[1:]
			}
			return 0, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expires tells whether something that is kept for so long can have expired since the last Prune.
func (p *pruning) expires(kept time.Duration) bool {
	return kept != Forever && (kept != Never || p.before == 0)
}

// slot deletes what has expired of one slot.
func (p *pruning) slot(ctx context.Context, t *tx, h, from int64) (next int64, err error) {
	var s streamID
	var all, whole []streamID
	query := fmt.Sprintf("SELECT DISTINCT stream FROM points WHERE slot = %d AND stream >= %d ORDER BY stream LIMIT %d",
		h, from, rowsInPrune)
	if err := t.each(ctx, query, nil, []any{&s}, func() error {
		all = append(all, s)
		return nil
	}); err != nil {
		return 0, err
	}
	for _, s := range all {
		switch gone, left := p.expiredMetrics(s, (h+1)*slotSpan); {
		case !left:
			whole = append(whole, s)
		case len(gone) > 0:
			if err := p.thin(ctx, t, h, s, gone); err != nil {
				return 0, err
			}
		}
	}
	n, err := t.exec(ctx, fmt.Sprintf("DELETE FROM points WHERE slot = %d AND ", h)+among("stream", whole))
	p.done.Points += n
	return nextRow(all, err)
}

// nextRow is where the next part begins after one that had these rows.
func nextRow[T ~int64](rows []T, err error) (int64, error) {
	if err != nil || len(rows) < rowsInPrune {
		return -1, err
	}
	return int64(rows[len(rows)-1]) + 1, nil
}

// expiredMetrics returns which metrics of a stream have expired by the end of a slot, and whether there are others.
func (p *pruning) expiredMetrics(s streamID, end int64) (gone map[metricID]bool, left bool) {
	if int(s) >= len(p.toolOf) {
		return nil, true // it is new
	}
	tool := p.toolOf[s]
	gone = map[metricID]bool{}
	for m, name := range p.tools[tool] {
		if end <= expiry(p.now, p.k.keepsSeries(tool, name).Points) {
			gone[m] = true
		} else {
			left = true
		}
	}
	if len(gone) == 0 && !left {
		left = end > expiry(p.now, p.k.keeps(tool).Points) // all its runs failed
	}
	return gone, left
}

// thin writes a slot of a stream again without some metrics.
func (p *pruning) thin(ctx context.Context, t *tx, h int64, s streamID, gone map[metricID]bool) error {
	var generation int64
	var data []byte
	var rows []pointsRow
	had := 0
	query := fmt.Sprintf("SELECT generation, data FROM points WHERE slot = %d AND stream = %d", h, s)
	if err := t.each(ctx, query, nil, []any{&generation, &data}, func() error {
		runs, err := decodePoints(data, h, nil)
		if err != nil {
			return err
		}
		for i := range runs {
			before := len(runs[i].values)
			runs[i].values = slices.DeleteFunc(runs[i].values, func(v value) bool { return gone[v.metric] })
			had += before - len(runs[i].values)
		}
		rows = append(rows, pointsRow{h, s, generation, appendPoints(nil, runs)})
		return nil
	}); err != nil {
		return err
	}
	if had == 0 {
		return nil
	}
	p.done.Points++
	if _, err := t.exec(ctx, fmt.Sprintf("DELETE FROM points WHERE slot = %d AND stream = %d", h, s)); err != nil {
		return err
	}
	return p.k.store.write(ctx, t, rows, nil)
}

// rollups deletes expired rows of rollups, one start of a level at a time.
func (p *pruning) rollups(ctx context.Context) error {
	for level := range Levels {
		first, last := int64(1)<<40, int64(-1)
		for tool, metrics := range p.tools {
			for _, name := range metrics {
				kept := p.k.keepsSeries(tool, name).Rollups[level]
				if !p.expires(kept) {
					continue
				}
				first = min(first, chunkStart(level, p.since(kept)))
				last = max(last, chunkStart(level, max(0, expiry(p.now, kept)))-1)
			}
		}
		query := fmt.Sprintf(`SELECT start, count(*) FROM rollup
			WHERE level = %d AND start >= %d AND start <= %d GROUP BY start ORDER BY start`,
			level, first, last)
		err := p.together(ctx, query, func(ctx context.Context, t *tx, start, from int64) (int64, error) {
			return p.rollupStart(ctx, t, level, start, from)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pruning) rollupStart(ctx context.Context, t *tx, level int, start, from int64) (next int64, err error) {
	var s seriesID
	var all, expired []seriesID
	over := start*int64(time.Second) + int64(chunkSpans[level])
	query := fmt.Sprintf(`SELECT series FROM rollup
		WHERE level = %d AND start = %d AND series >= %d ORDER BY series LIMIT %d`,
		level, start, from, rowsInPrune)
	if err := t.each(ctx, query, nil, []any{&s}, func() error {
		all = append(all, s)
		id, m := s.split()
		if int(id) < len(p.toolOf) && int(m) < len(p.names) && over <= expiry(p.now, p.rollupKept(p.toolOf[id], level, m)) {
			expired = append(expired, s)
		}
		return nil
	}); err != nil {
		return 0, err
	}
	n, err := t.exec(ctx, fmt.Sprintf("DELETE FROM rollup WHERE level = %d AND start = %d AND ", level,
		start)+among("series", expired))
	p.done.Rollups += n
	return nextRow(all, err)
}

// rollupKept is how long a row of a metric is kept: where it holds all metrics of a tool, as long as any of them.
func (p *pruning) rollupKept(tool string, level int, m metricID) time.Duration {
	if !packed[level] {
		return p.k.keepsSeries(tool, p.names[m]).Rollups[level]
	}
	longest := Never
	for _, name := range p.tools[tool] {
		longest = max(longest, p.k.keepsSeries(tool, name).Rollups[level])
	}
	return longest
}

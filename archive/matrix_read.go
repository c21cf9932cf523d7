package archive

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// addMemory takes in what a database that has come so far does not have yet.
func (m *matrix) addMemory(at progress, from, to int64) error {
	for _, p := range m.v.memory {
		for id, runs := range p.runs {
			if at.has(p.generation, id) {
				continue
			}
			sum := m.of(id)
			err := readValues(runs, from, to, func(metric metricID, v float64) {
				if m.v.wants(metric) {
					sum.Add(v)
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// addPiece takes in what the database has of a piece: from rows across streams, as long as there have been any.
func (k *keeper) addPiece(ctx context.Context, t *tx, m *matrix, p piece) error {
	if p.level == pointsLevel {
		return k.pointsOf(ctx, t, m.v, p.from, p.to, func(id streamID, r run) {
			for _, v := range r.values {
				m.of(id).Add(v.value)
			}
		})
	}
	single := p
	if across[p.level] > 0 {
		step := int64(Levels[p.level])
		since := floorDiv(k.acrossSince()+step-1, step) * step
		single.to = min(p.to, since)
		if p.from = max(p.from, since); p.from < p.to {
			if err := k.addAcross(ctx, t, m, p); err != nil {
				return err
			}
		}
	}
	if single.from >= single.to {
		return nil
	}
	where := grid("start", m.v.chunkStarts(single), "series", m.v.rows(p.level))
	return m.addRows(ctx, t, single, p.level, where)
}

func (k *keeper) acrossSince() int64 {
	k.memory.RLock()
	defer k.memory.RUnlock()
	return k.across
}

// addAcross takes in rows across streams.
func (k *keeper) addAcross(ctx context.Context, t *tx, m *matrix, p piece) error {
	layout := across[p.level]
	span := int64(layouts[layout].span / time.Second)
	starts := upTo(chunkStart(layout, max(p.from, m.v.first)), chunkStart(layout, min(p.to-1, m.v.last))+1, span)
	rows := make([]seriesID, 0, len(m.groups)*len(m.v.wanted))
	for _, g := range m.groups {
		for metric := range m.v.wanted {
			rows = append(rows, groupRow(metric, g))
		}
	}
	slices.Sort(rows)
	return m.addRows(ctx, t, p, layout, among("start", starts)+" AND "+among("series", rows))
}

// addRows takes in what rows of a layout hold of a piece.
func (m *matrix) addRows(ctx context.Context, t *tx, p piece, layout int, where string) error {
	key := rollupKey{layout: layout}
	var data sql.RawBytes
	query := fmt.Sprintf("SELECT start, series, data FROM rollup WHERE level = %d AND ", layout) + where
	return t.each(ctx, query, nil, []any{&key.start, &key.series, &data}, func() error {
		if err := m.merge(key, p, data); err != nil {
			return fmt.Errorf("rollup %+v: %w", key, err)
		}
		return nil
	})
}

// merge takes in what of a row lies in a piece and is asked for.
func (m *matrix) merge(key rollupKey, p piece, data []byte) error {
	return eachBucket(data, key.layout, func(b bucket) error {
		at := key.begins(b.number)
		if at < p.from || at >= p.to || !m.v.wants(key.metric(b.number)) {
			return nil
		}
		into := m.of(key.stream(b.number))
		if into == nil {
			return nil
		}
		if into.Count() == 0 {
			_, err := into.DecodeBinary(b.sketch)
			return err
		}
		_, err := m.one.DecodeBinary(b.sketch)
		into.Merge(&m.one)
		return err
	})
}

package archive

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// samples takes the samples out of Results that are to be kept without.
func (p *pruning) samples(ctx context.Context) error {
	for tool := range p.tools {
		kept := p.k.keeps(tool)
		last := floorDiv(expiry(p.now, kept.Samples), day)
		if kept.Samples >= kept.Results || last < 0 {
			continue
		}
		err := p.repeat(ctx, new(int64), func(ctx context.Context, t *tx) (int64, error) {
			var id, on int64
			var blocks [][2]int64
			query := fmt.Sprintf("SELECT id, day FROM block WHERE tool = $1 AND day < $2 AND samples = 1 LIMIT %d",
				blocksInPrune)
			if err := t.each(ctx, query, []any{tool, last}, []any{&id, &on}, func() error {
				blocks = append(blocks, [2]int64{id, on})
				return nil
			}); err != nil {
				return 0, err
			}
			for _, b := range blocks {
				if err := p.strip(ctx, t, b[0], b[1]); err != nil {
					return 0, err
				}
			}
			return int64(len(blocks)), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// strip takes the samples out of one block of a day.
func (p *pruning) strip(ctx context.Context, t *tx, id, d int64) error {
	lines, err := p.k.readBlock(ctx, t, id, d*day)
	if err != nil {
		return err
	}
	for i := range lines {
		r, err := decodeResult(lines[i])
		if err != nil {
			return fmt.Errorf("block %d: %w", id, err)
		}
		if !hasSamples(&r.Samples) {
			continue
		}
		r.Samples = measure.Samples{}
		metrics, err := metricsIn(r)
		if err != nil {
			return err
		}
		if lines[i], err = appendResult(nil, r, metrics); err != nil {
			return err
		}
		p.done.Samples++
	}
	if err := p.k.rewriteBlock(ctx, t, id, d*day, lines, false); err != nil {
		return err
	}
	_, err = t.exec(ctx, "UPDATE block SET samples = 0 WHERE "+blockIs(id, d*day))
	return err
}

// blocks deletes Results.
func (p *pruning) blocks(ctx context.Context) error {
	for tool := range p.tools {
		last := floorDiv(expiry(p.now, p.k.keeps(tool).Results), day)
		err := p.repeat(ctx, new(int64), func(ctx context.Context, t *tx) (int64, error) {
			return t.exec(ctx, fmt.Sprintf(`DELETE FROM block
				WHERE id IN (SELECT id FROM block WHERE tool = $1 AND day < $2 LIMIT %d)`,
				blocksInPrune), tool, last)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ids deletes what is known of Results that are no longer kept, and that cannot come again.
func (p *pruning) ids(ctx context.Context) error {
	limits := map[string]int64{}
	first, last := end, int64(0) // all before first goes, none after last
	from := end                  // what expired earlier has gone already
	for tool := range p.tools {
		kept := max(p.k.keeps(tool).Results, idsKept)
		limits[tool] = floorDiv(expiry(p.now, kept), day) * day // with their blocks
		first, last = min(first, limits[tool]), max(last, limits[tool])
		if kept != Forever {
			from = min(from, p.since(kept))
		}
	}
	return p.oldResults(ctx, from, last, func(at int64, s streamID) bool {
		return int(s) < len(p.toolOf) && at < limits[p.toolOf[s]]
	})
}

// oldResults deletes what is known of those Results in [from, to) that have expired, day by day.
func (p *pruning) oldResults(ctx context.Context, from, to int64, expired func(at int64, s streamID) bool) error {
	if from <= 0 {
		from = to
		if err := p.read(ctx, "SELECT coalesce(min(time), 0) FROM result", []any{&from},
			func() error { return nil }); err != nil {
			return err
		}
	}
	for start := from; start < to; start += day {
		var id []byte
		var at int64
		var s streamID
		var ids [][]byte
		query := fmt.Sprintf("SELECT id, time, stream FROM result WHERE time >= %d AND time < %d", start, min(start+day, to))
		if err := p.read(ctx, query, []any{&id, &at, &s}, func() error {
			if expired(at, s) {
				ids = append(ids, slices.Clone(id))
			}
			return nil
		}); err != nil {
			return err
		}
		for some := range slices.Chunk(ids, rowsInPrune) {
			_, err := p.change(ctx, func(ctx context.Context, t *tx) (int64, error) { return 0, p.forget(ctx, t, some) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// forget deletes what is known of some Results.
func (p *pruning) forget(ctx context.Context, t *tx, ids [][]byte) error {
	for some := range slices.Chunk(ids, 200) {
		args := make([]any, len(some))
		for i := range some {
			args[i] = some[i]
		}
		n, err := t.exec(ctx, "DELETE FROM result WHERE id IN ("+dollars(len(some))+")", args...)
		if err != nil {
			return err
		}
		p.done.Results += n
	}
	return nil
}

// since is the time before which what is kept for so long was deleted by the last Prune.
func (p *pruning) since(kept time.Duration) int64 {
	if p.before == 0 || kept == Forever || kept == Never {
		return 0
	}
	return floorDiv(expiry(p.before, kept), day) * day
}

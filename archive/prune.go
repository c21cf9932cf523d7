package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// How much one transaction of Prune deletes: Put waits for it, a tenth of a second or so.
const (
	blocksInPrune = 50
	rowsInPrune   = 5000
)

// pruning is one call of Prune.
type pruning struct {
	k           *keeper
	now, before int64 // ns; before: the now of the last call, 0 if this is the first since the archive was opened
	tools       map[string]map[metricID]measure.Metric
	toolOf      []string         // by stream, from 1
	names       []measure.Metric // by number
	done        Pruned
}

// Prune implements Archive.
func (k *keeper) Prune(ctx context.Context, now time.Time) (Pruned, error) {
	if err := k.enter(); err != nil {
		return Pruned{}, err
	}
	defer k.leave()
	p := &pruning{k: k, now: unixNano(now)}
	if err := p.begin(ctx); err != nil {
		return Pruned{}, fmt.Errorf("prune: %w", err)
	}
	for _, step := range []func(context.Context) error{p.dropPartitions, p.samples, p.blocks, p.ids, p.points, p.rollups, p.misses, p.giveBack} {
		if err := step(ctx); err != nil {
			return p.done, fmt.Errorf("prune: %w", err)
		}
	}
	k.do(ctx, func(context.Context) error {
		k.prunedHere = p.now
		return nil
	})
	return p.done, nil
}

// begin notes in the database that what expires now is not to be filed any more.
func (p *pruning) begin(ctx context.Context) error {
	k := p.k
	return k.do(ctx, func(ctx context.Context) error {
		if k.restoring {
			return ErrHalfRestored
		}
		p.before = k.prunedHere
		p.tools = map[string]map[metricID]measure.Metric{}
		p.toolOf, p.names = make([]string, len(k.names.streams)+1), slices.Clone(k.names.metrics)
		for _, s := range k.names.byKey {
			p.toolOf[s.id] = s.key.tool
			metrics := p.tools[s.key.tool]
			if metrics == nil {
				metrics = map[metricID]measure.Metric{}
				p.tools[s.key.tool] = metrics
			}
			for _, l := range s.latest {
				metrics[l.metric] = k.names.metrics[l.metric]
			}
		}
		at := max(k.pruned, p.now)
		err := k.store.change(ctx, func(t *tx) error { return setState(ctx, t, map[string]int64{"pruned": at}) })
		if err != nil {
			k.broken = true
			return err
		}
		k.pruned = at
		return nil
	})
}

// change does a transaction of a step. It says how many rows it deleted; repeat does it until those are none.
func (p *pruning) change(ctx context.Context, f func(context.Context, *tx) (int64, error)) (n int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = p.k.do(ctx, func(ctx context.Context) error {
		return p.k.store.change(ctx, func(t *tx) (err error) {
			n, err = f(ctx, t)
			return err
		})
	})
	return n, err
}

func (p *pruning) repeat(ctx context.Context, count *int64, f func(context.Context, *tx) (int64, error)) error {
	for {
		n, err := p.change(ctx, f)
		if err != nil {
			return err
		}
		if *count += n; n == 0 {
			return nil
		}
	}
}

// read reads between transactions.
func (p *pruning) read(ctx context.Context, query string, to []any, f func() error) error {
	return p.k.store.view(ctx, func(t *tx) error { return t.each(ctx, query, nil, to, f) })
}

// dropPartitions drops what has expired by every rule, where whole tables can be dropped.
func (p *pruning) dropPartitions(ctx context.Context) error {
	blocks, points := p.longest(func(r Rule) time.Duration { return r.Results }), p.longest(func(r Rule) time.Duration { return r.Points })
	var rollups [len(Levels)]int64
	for level := range Levels {
		rollups[level] = floorDiv(expiry(p.now, p.longest(func(r Rule) time.Duration { return r.Rollups[level] })), int64(time.Second))
	}
	_, err := p.change(ctx, func(ctx context.Context, t *tx) (int64, error) {
		return 0, p.k.store.drop(ctx, t, floorDiv(expiry(p.now, blocks), day), floorDiv(expiry(p.now, points), slotSpan), rollups)
	})
	if errors.Is(err, errBusy) { // somebody reads them: the steps that follow, or the next Prune, will do
		return nil
	}
	return err
}

// longest is how long something is kept by the most generous of the rules for what there is.
func (p *pruning) longest(field func(Rule) time.Duration) time.Duration {
	longest := time.Duration(0)
	for tool, metrics := range p.tools {
		longest = max(longest, field(p.k.keeps(tool)))
		for _, name := range metrics {
			longest = max(longest, field(p.k.keepsSeries(tool, name)))
		}
	}
	return longest
}

// samples takes the samples out of Results that are to be kept without.
func (p *pruning) samples(ctx context.Context) error {
	for tool := range p.tools {
		kept := p.k.keeps(tool)
		last := floorDiv(expiry(p.now, kept.Samples), day)
		if kept.Samples >= kept.Results || last < 0 {
			continue
		}
		err := p.repeat(ctx, new(int64), func(ctx context.Context, t *tx) (int64, error) {
			var id int64
			var ids []int64
			query := fmt.Sprintf("SELECT id FROM block WHERE tool = $1 AND day < $2 AND samples = 1 LIMIT %d", blocksInPrune)
			if err := t.each(ctx, query, []any{tool, last}, []any{&id}, func() error {
				ids = append(ids, id)
				return nil
			}); err != nil {
				return 0, err
			}
			for _, id := range ids {
				if err := p.strip(ctx, t, id); err != nil {
					return 0, err
				}
			}
			return int64(len(ids)), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// strip takes the samples out of one block.
func (p *pruning) strip(ctx context.Context, t *tx, id int64) error {
	lines, err := p.k.readBlock(ctx, t, id)
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
	if err := p.k.rewriteBlock(ctx, t, id, lines, false); err != nil {
		return err
	}
	_, err = t.exec(ctx, "UPDATE block SET samples = 0 WHERE id = $1", id)
	return err
}

// blocks deletes Results.
func (p *pruning) blocks(ctx context.Context) error {
	for tool := range p.tools {
		last := floorDiv(expiry(p.now, p.k.keeps(tool).Results), day)
		err := p.repeat(ctx, new(int64), func(ctx context.Context, t *tx) (int64, error) {
			return t.exec(ctx, fmt.Sprintf("DELETE FROM block WHERE id IN (SELECT id FROM block WHERE tool = $1 AND day < $2 LIMIT %d)",
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
		if err := p.read(ctx, "SELECT coalesce(min(time), 0) FROM result", []any{&from}, func() error { return nil }); err != nil {
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

// misses deletes misses.
func (p *pruning) misses(ctx context.Context) error {
	err := p.repeat(ctx, &p.done.Misses, func(ctx context.Context, t *tx) (int64, error) {
		return t.exec(ctx, fmt.Sprintf("DELETE FROM miss WHERE id IN (SELECT id FROM miss WHERE time < $1 LIMIT %d)", rowsInPrune),
			expiry(p.now, missesKept))
	})
	return err
}

// giveBack returns free space to the file system.
func (p *pruning) giveBack(ctx context.Context) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := p.k.do(ctx, func(ctx context.Context) (err error) {
			more, err = p.k.store.giveBack(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

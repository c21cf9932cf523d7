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
	for _, step := range []func(context.Context) error{p.dropPartitions, p.samples, p.blocks, p.ids, p.points, p.rollups,
		p.misses, p.giveBack} {
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
	blocks, points := p.longest(func(r Rule) time.Duration { return r.Results }),
		p.longest(func(r Rule) time.Duration { return r.Points })
	var rollups [len(Levels)]int64
	for level := range Levels {
		rollups[level] = floorDiv(expiry(p.now, p.longest(func(r Rule) time.Duration { return r.Rollups[level] })),
			int64(time.Second))
	}
	_, err := p.change(ctx, func(ctx context.Context, t *tx) (int64, error) {
		return 0, p.k.store.drop(ctx, t, floorDiv(expiry(p.now, blocks), day), floorDiv(expiry(p.now, points), slotSpan),
			rollups)
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

// misses deletes misses.
func (p *pruning) misses(ctx context.Context) error {
	err := p.repeat(ctx, &p.done.Misses, func(ctx context.Context, t *tx) (int64, error) {
		return t.exec(ctx, fmt.Sprintf("DELETE FROM miss WHERE id IN (SELECT id FROM miss WHERE time < $1 LIMIT %d)",
			rowsInPrune),
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

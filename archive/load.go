package archive

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// load reads what is known of streams and metrics, and the journal, in place of what memory held.
func (k *keeper) load(ctx context.Context) error {
	names := newRegistry()
	var at progress
	var generations map[int64]*pending
	var lastBlock, lastJournal, misses int64
	newest := newestRows{}
	err := k.store.view(ctx, func(t *tx) error {
		state, err := readState(ctx, t)
		if err != nil {
			return err
		}
		if state["restoring"] != 0 {
			return ErrHalfRestored
		}
		if _, between := state["across"]; between {
			return errBetween
		}
		at = progress{state["moved"], streamID(state["upto"])}
		k.pruned = state["pruned"]
		if err := readNames(ctx, t, names); err != nil {
			return err
		}
		if generations, lastJournal, err = readGenerations(ctx, t, names, at); err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		for level := range Levels {
			query := fmt.Sprintf("SELECT coalesce(max(start), -1) FROM rollup WHERE level = %d", level)
			if _, err := t.one(ctx, query, nil, &newest[level]); err != nil {
				return fmt.Errorf("find rollups: %w", err)
			}
		}
		_, err = t.one(ctx, "SELECT count(*) FROM miss", nil, &misses)
		if err != nil {
			return err
		}
		_, err = t.one(ctx, "SELECT coalesce(max(id), 0) FROM block", nil, &lastBlock)
		return err
	})
	if err != nil {
		return err
	}
	k.lastBlock, k.lastJournal, k.newest, k.newestBefore = lastBlock, lastJournal, newest, newest
	k.memory.Lock()
	defer k.memory.Unlock()
	k.names, k.misses = names, misses
	k.filed.changedAll()
	k.adopt(at, generations)
	return nil
}

// readGenerations reads the runs of the journal that are not in points yet, by generation, and tells names of their values. last is the ID of the
// journal's last row, 0: it is empty.
func readGenerations(ctx context.Context, t *tx, names *registry, at progress) (generations map[int64]*pending, last int64, err error) {
	generations = map[int64]*pending{}
	var generation int64
	var data []byte
	err = t.each(ctx, "SELECT id, generation, data FROM journal ORDER BY id", nil, []any{&last, &generation, &data}, func() error {
		if generations[generation] == nil {
			generations[generation] = newPending(generation)
		}
		return readJournal(data, func(s streamID, r run, line []byte) {
			if known := names.stream(s); known != nil && !at.has(generation, s) {
				generations[generation].add(s, line, len(r.values))
				if known.note(r) {
					names.learn(known)
				}
			}
		})
	})
	return generations, last, err
}

// adopt makes what was in the journal the generations in memory: the first one is being moved if that had begun, or if
// there is a second.
func (k *keeper) adopt(at progress, generations map[int64]*pending) {
	k.moving, k.order = nil, nil
	newest := at.moved + 1
	if len(generations) > 0 {
		newest = slices.Max(slices.Collect(maps.Keys(generations)))
	}
	if newest == at.moved+1 && at.upto > 0 {
		newest++
	}
	if first := generations[at.moved+1]; newest > at.moved+1 && first != nil && len(first.runs) > 0 {
		k.moving, k.order = first, first.order()
	}
	if k.active = generations[newest]; k.active == nil {
		k.active = newPending(newest)
	}
	k.countPending()
}

func (k *keeper) countPending() {
	total := k.active.values
	if k.moving != nil {
		total += k.moving.values
	}
	k.counts.pending.Store(int64(total))
}

func readState(ctx context.Context, t *tx) (map[string]int64, error) {
	state := map[string]int64{}
	var name string
	var v int64
	err := t.each(ctx, "SELECT name, value FROM state", nil, []any{&name, &v}, func() error {
		state[name] = v
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	return state, nil
}

func readNames(ctx context.Context, t *tx, names *registry) error {
	var m metricID
	var name string
	if err := t.each(ctx, "SELECT id, name FROM metric", nil, []any{&m, &name}, func() error {
		names.addMetric(m, measure.Metric(name))
		return nil
	}); err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	var s stream
	var latest []byte
	to := []any{&s.id, &s.key.source, &s.key.target, &s.key.test, &s.key.tool, &s.key.kind, &s.key.role, &s.key.subject, &latest}
	interned := map[string]string{} // few names stand in many streams
	err := t.each(ctx, "SELECT id, source, target, test, tool, kind, role, subject, latest FROM stream", nil, to, func() (err error) {
		one := s
		for _, name := range []*string{&one.key.source, &one.key.target, &one.key.test, &one.key.tool, &one.key.kind,
			&one.key.subject} {
			if known, ok := interned[*name]; ok {
				*name = known
			} else {
				interned[*name] = *name
			}
		}
		if one.streamTail, err = decodeStreamTail(latest); err == nil {
			names.addStream(&one)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read streams: %w", err)
	}
	return nil
}

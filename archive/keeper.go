package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pathwise-net/pathwise/measure"
)

// keeper is the Archive over either store. One goroutine, the writer, changes the database and what is in memory; queries
// read both at any time.
type keeper struct {
	store   store
	options Options
	rules   retention
	squeeze *squeezer
	kept    sync.Map // [2]string{tool, metric} -> Rule
	counts  counts

	requests chan *request // to be committed
	works    chan *work    // to be done between commits
	quit     chan struct{}
	done     chan struct{} // the writer has ended

	door   sync.Mutex // guards closed
	closed bool
	calls  sync.WaitGroup // that are under way

	writer // touched by the writer goroutine only

	memory sync.RWMutex // guards what follows; the writer reads it without
	names  *registry
	active *pending // where commits go
	moving *pending // what is being moved; nil: nothing
	misses int64    // how many are filed, about; 0: none
}

// counts are what Stats shows.
type counts struct {
	filed, duplicates, tooOld, queued, pending, commits atomic.Int64
	moveError                                           atomic.Pointer[string]
}

// queueLength is how many calls' Results may wait for a commit before Put waits: with calls of a few hundred each that is
// what is committed in half a second.
const queueLength = 64

// newKeeper reads what is in the store and starts the writer.
func newKeeper(ctx context.Context, s store, o Options) (*keeper, error) {
	rules, err := newRetention(o.Retention)
	if err != nil {
		return nil, err
	}
	k := &keeper{store: s, options: o, rules: rules,
		requests: make(chan *request, queueLength), works: make(chan *work), quit: make(chan struct{}), done: make(chan struct{})}
	if k.squeeze, err = newSqueezer(); err != nil {
		return nil, err
	}
	if err := k.load(ctx); err != nil {
		k.squeeze.close()
		return nil, err
	}
	go k.write()
	return k, nil
}

// enter begins a call; the caller defers leave.
func (k *keeper) enter() error {
	k.door.Lock()
	defer k.door.Unlock()
	if k.closed {
		return ErrClosed
	}
	k.calls.Add(1)
	return nil
}

func (k *keeper) leave() { k.calls.Done() }

// Close implements Archive.
func (k *keeper) Close() error {
	if err := k.enter(); err != nil {
		return err
	}
	k.door.Lock()
	k.closed = true
	k.door.Unlock()
	k.leave()
	k.calls.Wait()
	close(k.quit)
	<-k.done
	k.squeeze.close()
	return errors.Join(k.lastMove, k.store.close())
}

// load reads what is known of streams and metrics, and the journal, in place of what memory held.
func (k *keeper) load(ctx context.Context) error {
	names := newRegistry()
	var at progress
	generations := map[int64]*pending{}
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
		at = progress{state["moved"], streamID(state["upto"])}
		k.pruned = state["pruned"]
		if err := readNames(ctx, t, names); err != nil {
			return err
		}
		var generation int64
		var data []byte
		if err := t.each(ctx, "SELECT id, generation, data FROM journal ORDER BY id", nil, []any{&lastJournal, &generation, &data}, func() error {
			if generations[generation] == nil {
				generations[generation] = newPending(generation)
			}
			return readJournal(data, func(s streamID, r run, line []byte) {
				if known := names.stream(s); known != nil && !at.has(generation, s) {
					generations[generation].add(s, line, len(r.values))
					known.note(r)
				}
			})
		}); err != nil {
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
	k.adopt(at, generations)
	return nil
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
	if first := generations[at.moved+1]; newest > at.moved+1 {
		if first == nil {
			first = newPending(at.moved + 1)
		}
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
	to := []any{&s.id, &s.key.source, &s.key.target, &s.key.test, &s.key.tool, &s.key.kind, &latest}
	interned := map[string]string{} // few names stand in many streams
	err := t.each(ctx, "SELECT id, source, target, test, tool, kind, latest FROM stream", nil, to, func() (err error) {
		one := s
		for _, name := range []*string{&one.key.source, &one.key.target, &one.key.test, &one.key.tool, &one.key.kind} {
			if known, ok := interned[*name]; ok {
				*name = known
			} else {
				interned[*name] = *name
			}
		}
		if one.news, err = decodeNews(latest); err == nil {
			names.addStream(&one)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read streams: %w", err)
	}
	return nil
}

// Stats implements Archive.
func (k *keeper) Stats() Stats {
	k.memory.RLock()
	streams := len(k.names.byKey)
	k.memory.RUnlock()
	s := Stats{
		Streams: streams, Filed: k.counts.filed.Load(), Duplicates: k.counts.duplicates.Load(), TooOld: k.counts.tooOld.Load(),
		Queued: int(k.counts.queued.Load()), Pending: int(k.counts.pending.Load()), Commits: k.counts.commits.Load(),
	}
	if text := k.counts.moveError.Load(); text != nil {
		s.MoveError = *text
	}
	return s
}

// keeps returns what the rules say of a tool's Results.
func (k *keeper) keeps(tool string) Rule { return k.keepsSeries(tool, "") }

// keepsSeries returns what the rules say of a tool's metric.
func (k *keeper) keepsSeries(tool string, metric measure.Metric) Rule {
	key := [2]string{tool, string(metric)}
	if known, ok := k.kept.Load(key); ok {
		return known.(Rule)
	}
	r := k.rules.of(tool, string(metric))
	k.kept.Store(key, r)
	return r
}

// tooOld is the time before which a Result of a tool is not filed: its rules keep nothing of it, and whether it has been
// filed before is no longer known.
func (k *keeper) tooOld(tool string) int64 {
	if k.pruned == 0 {
		return 0
	}
	return expiry(k.pruned, max(k.keeps(tool).Results, idsKept))
}

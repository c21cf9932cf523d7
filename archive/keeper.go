package archive

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/pathwise-net/pathwise/measure"
)

// keeper is the Archive over either store. One goroutine, the writer, changes the database and what is in memory;
// queries read both at any time.
type keeper struct {
	store   store
	options Options
	rules   retention
	packer  *packer  // of blocks
	kept    sync.Map // [2]string{tool, metric} -> Rule
	counts  counts

	requests chan *request // to be committed
	works    chan *work    // to be done between commits
	quit     chan struct{}
	done     chan struct{} // the writer has ended

	entry  sync.Mutex // guards closed
	closed bool
	calls  sync.WaitGroup // that are under way

	writer // touched by the writer goroutine only

	memory sync.RWMutex // guards what follows; the writer reads it without
	names  *registry
	active *pending // where commits go
	moving *pending // what is being moved; nil: nothing
	misses int64    // how many are filed, about; 0: none
	filed  history  // when which day was changed last

	matrices *matrices
}

// counts are what Stats shows.
type counts struct {
	filed, duplicates, tooOld, queued, pending, commits atomic.Int64
	moveError                                           atomic.Pointer[string]
}

// queueLength is how many calls' Results may wait for a commit before Put waits: with calls of a few hundred each that
// is what is committed in half a second.
const queueLength = 64

// newKeeper reads what is in the store and starts the writer.
func newKeeper(ctx context.Context, s store, o Options) (*keeper, error) {
	rules, err := newRetention(o.Retention)
	if err != nil {
		return nil, err
	}
	k := &keeper{store: s, options: o, rules: rules,
		requests: make(chan *request, queueLength), works: make(chan *work), quit: make(chan struct{}),
		done: make(chan struct{}), matrices: newMatrices()}
	if k.packer, err = newPacker(); err != nil {
		return nil, err
	}
	if err = k.load(ctx); err == nil {
		err = k.refile(ctx, func(ctx context.Context, f func(context.Context) error) error { return f(ctx) })
	}
	if err != nil {
		k.packer.close()
		return nil, err
	}
	go k.write()
	return k, nil
}

// enter begins a call; the caller defers leave.
func (k *keeper) enter() error {
	k.entry.Lock()
	defer k.entry.Unlock()
	if k.closed {
		return ErrClosed
	}
	k.calls.Add(1)
	return nil
}

// ask begins a call about what a Match selects; the caller defers leave unless there is an error.
func (k *keeper) ask(m Match) (selector, error) {
	if err := k.enter(); err != nil {
		return selector{}, err
	}
	s, err := m.selector()
	if err != nil {
		k.leave()
	}
	return s, err
}

func (k *keeper) leave() { k.calls.Done() }

// Close implements Archive.
func (k *keeper) Close() error {
	if err := k.enter(); err != nil {
		return err
	}
	k.entry.Lock()
	k.closed = true
	k.entry.Unlock()
	k.leave()
	k.calls.Wait()
	close(k.quit)
	<-k.done
	k.packer.close()
	return errors.Join(k.lastMove, k.store.close())
}

// Stats implements Archive.
func (k *keeper) Stats() Stats {
	k.memory.RLock()
	streams := len(k.names.byKey)
	k.memory.RUnlock()
	s := Stats{
		Streams: streams, Filed: k.counts.filed.Load(), Duplicates: k.counts.duplicates.Load(),
		TooOld: k.counts.tooOld.Load(),
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
	if of, is := samplesOf(metric); is {
		r = k.rules.longest(tool, of)
	}
	k.kept.Store(key, r)
	return r
}

// tooOld is the time before which a Result of a tool is not filed: its rules keep nothing of it, and whether it has
// been filed before is no longer known.
func (k *keeper) tooOld(tool string) int64 {
	if k.pruned == 0 {
		return 0
	}
	return expiry(k.pruned, max(k.keeps(tool).Results, idsKept))
}

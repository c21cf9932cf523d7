package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// writer is what the writer goroutine alone touches.
type writer struct {
	lastBlock, lastJournal int64 // numbers given
	pruned                 int64 // when Prune was called last, ns since 1970
	prunedHere             int64 // when it last ended since the archive was opened; 0: it has not
	restoring              bool  // a Restore has begun and not ended well
	broken                 bool  // what memory holds may not be what the database has
	order                  []streamID
	newest, newestBefore   newestRows // in the database: now, and before what is being moved
	ahead                  *ahead     // who makes the rows of what is being moved; nil: nobody
	lastMove               error
}

// work is something that the writer does between commits.
type work struct {
	do   func(context.Context) error
	done chan error
}

// Limits of a commit: as many Results as keep it under half a second, and time enough for a database that is busy.
const (
	mostInCommit  = 16384
	commitTimeout = 2 * time.Minute
)

// write is the writer's loop. While something is being moved, commits and steps of it take turns.
func (k *keeper) write() {
	defer close(k.done)
	defer k.forgetAhead()
	ticker := time.NewTicker(k.options.MoveEvery)
	defer ticker.Stop()
	for {
		select {
		case q := <-k.requests:
			k.commit(q)
			k.moveSome()
		case s := <-k.nextStep():
			k.move(s)
		case w := <-k.works:
			w.done <- k.run(w)
		case <-ticker.C:
			k.lastMove = nil // another try
			k.beginMove()
		case <-k.quit:
			k.moveAll()
			return
		}
	}
}

// do has the writer do something, and waits for it.
func (k *keeper) do(ctx context.Context, f func(context.Context) error) error {
	w := &work{f, make(chan error, 1)}
	select {
	case k.works <- w:
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-w.done
}

func (k *keeper) run(w *work) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	if err := k.mend(ctx); err != nil {
		return err
	}
	k.forgetAhead()
	err := k.safely("change what is filed", func() error { return w.do(ctx) })
	if broken := (*brokenError)(nil); errors.As(err, &broken) {
		k.broken = true
	}
	return k.store.explain(err)
}

// mend reads again what memory should hold, after an error that leaves that open.
func (k *keeper) mend(ctx context.Context) error {
	if !k.broken {
		return nil
	}
	k.forgetAhead()
	if err := k.safely("read the archive again", func() error { return k.load(ctx) }); err != nil {
		return fmt.Errorf("read the archive again: %w", k.store.explain(err))
	}
	k.broken = false
	return nil
}

// commit files what q and others that wait by now bring, in one transaction.
func (k *keeper) commit(first *request) {
	group := []*request{first}
	size := len(first.filings)
	for more := true; more && size < mostInCommit; {
		select {
		case q := <-k.requests:
			group = append(group, q)
			size += len(q.filings)
		default:
			more = false
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	k.counts.queued.Add(-int64(size))
	if err := k.room(ctx); err != nil {
		answer(group, err)
		return
	}
	err := k.fileGroup(ctx, group)
	if broken := (*brokenError)(nil); len(group) == 1 || !errors.As(err, &broken) {
		answer(group, err)
		return
	}
	for _, q := range group { // one of them panics: the others are filed
		err := k.mend(ctx)
		if err == nil {
			err = k.fileGroup(ctx, []*request{q})
		}
		q.done <- err
	}
}

func answer(group []*request, err error) {
	for _, q := range group {
		q.done <- err
	}
}

// room makes room in memory, where moving has not kept up with what came.
func (k *keeper) room(ctx context.Context) error {
	if k.restoring {
		return ErrHalfRestored
	}
	if err := k.mend(ctx); err != nil {
		return err
	}
	for k.active.values >= 2*k.options.MoveValues {
		k.beginMove()
		if err := k.moveNext(); err != nil {
			return err
		}
	}
	return nil
}

// fileGroup writes the Results of a group that are new, and then takes them into memory. That some are filed already is
// rare enough to find out by failing.
func (k *keeper) fileGroup(ctx context.Context, group []*request) error {
	err := k.safely("file results", func() error {
		d, err := k.tryGroup(ctx, group, false)
		if errors.Is(err, errFiled) {
			d, err = k.tryGroup(ctx, group, true)
		}
		if err == nil {
			k.take(d)
		}
		return err
	})
	if err != nil {
		k.broken = true
		return fmt.Errorf("file results: %w", err)
	}
	return nil
}

func (k *keeper) tryGroup(ctx context.Context, group []*request, look bool) (*draft, error) {
	d := k.newDraft()
	err := k.store.change(ctx, func(t *tx) error {
		if look {
			if err := d.lookUp(ctx, t, group); err != nil {
				return err
			}
		}
		for _, q := range group {
			d.add(q)
		}
		if len(d.batch.results) == 0 {
			return nil
		}
		// In order of IDs, which is nearly that of time, neighbours go into one page of the table and of its index.
		slices.SortFunc(d.batch.results, func(a, b resultRow) int { return bytes.Compare(a.id, b.id) })
		if err := k.store.file(ctx, t, &d.batch); err != nil {
			return err
		}
		return k.dropMisses(ctx, t, &d.batch)
	})
	return d, k.store.explain(err)
}

// take makes what was committed known to queries.
func (k *keeper) take(d *draft) {
	k.remember(d)
	k.lastBlock, k.lastJournal = d.lastBlock, d.batch.journalID
	k.countPending()
	k.counts.duplicates.Add(d.duplicates)
	k.counts.tooOld.Add(d.tooOld)
	k.counts.filed.Add(int64(len(d.batch.results)))
	k.counts.commits.Add(1)
}

// remember is the part of take that changes what queries read.
func (k *keeper) remember(d *draft) {
	k.memory.Lock()
	defer k.memory.Unlock()
	for i, m := range d.batch.metrics {
		k.names.addMetric(m, d.newMetrics[i])
	}
	for _, s := range d.batch.streams {
		k.names.addStream(s)
	}
	k.filed.begin()
	for _, r := range d.runs {
		k.filed.changed(r.time)
		k.active.add(r.stream.id, d.batch.journal[r.from:r.to], len(r.values))
		if r.stream.note(r.run) {
			k.names.learn(r.stream)
		}
	}
}

// moveSome begins moving when enough has come together, and writes a step if one is ready: callers of Put must not keep
// it from that.
func (k *keeper) moveSome() {
	if k.active.values >= k.options.MoveValues {
		k.beginMove()
	}
	select {
	case s := <-k.nextStep():
		k.move(s)
	default:
	}
}

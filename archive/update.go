package archive

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// mostUpdated is how many Results are replaced in one transaction: Put waits for it.
const mostUpdated = 200

// Update implements Archive.
func (k *keeper) Update(ctx context.Context, results []*measure.Result) error {
	if err := k.enter(); err != nil {
		return err
	}
	defer k.leave()
	filings, err := k.encode(results)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(filings, mostUpdated) {
		if err := k.do(ctx, func(ctx context.Context) error { return k.update(ctx, some) }); err != nil {
			return fmt.Errorf("update results: %w", err)
		}
	}
	return nil
}

// update replaces some Results. What waits to be moved is moved first, so that there is one place to change.
func (k *keeper) update(ctx context.Context, filings []filing) error {
	if k.restoring {
		return ErrHalfRestored
	}
	if err := k.moveAll(); err != nil {
		return err
	}
	u := k.newUpdating()
	err := k.store.change(ctx, func(t *tx) error {
		if err := u.blocks(ctx, t, filings); err != nil {
			return err
		}
		return u.write(ctx, t)
	})
	if err != nil {
		k.broken = true
		return err
	}
	u.publish()
	return nil
}

// updating is one transaction of Update.
type updating struct {
	k       *keeper
	draft   *draft // gives numbers to new names and streams
	changes map[streamDay][]change
	maker   *rowMaker
	streams map[streamID]*stream // copies, with their new latest values
	newest  newestRows
}

func (k *keeper) newUpdating() *updating {
	return &updating{k: k, draft: k.newDraft(), changes: map[streamDay][]change{}, streams: map[streamID]*stream{},
		newest: k.newest}
}

// write writes what changes.
func (u *updating) write(ctx context.Context, t *tx) error {
	u.maker = u.k.newRowMaker(u.names())
	if err := u.k.store.file(ctx, t, &batch{streams: u.draft.batch.streams, metrics: u.draft.batch.metrics,
		names: u.draft.batch.names}); err != nil {
		return err
	}
	for at, changes := range u.changes {
		if err := u.day(ctx, t, at, changes); err != nil {
			return err
		}
	}
	return u.latest(ctx, t)
}

type streamDay struct {
	stream streamID
	day    int64
}

// change is what becomes of a run; nil: there was none, or is none any more.
type change struct {
	old, new *run
}

// note notes a change of a stream: the run that it had at a time, and the one that replaces it. nil: there was none, or is none.
func (u *updating) note(s streamID, at int64, old, new *run) {
	day := streamDay{s, floorDiv(at, day)}
	u.changes[day] = append(u.changes[day], change{old, new})
}

// run is the run of a filing in a stream.
func (u *updating) run(at int64, metrics []namedValue) *run { return &run{at, u.draft.values(metrics)} }

// blocks replaces the Results in their blocks, and notes what changes in their runs.
func (u *updating) blocks(ctx context.Context, t *tx, filings []filing) error {
	places := map[int64][]int{} // block -> indices of filings
	lines := make([]int, len(filings))
	for i := range filings {
		f := &filings[i]
		var at int64
		var s streamID
		var block int64
		there, err := t.one(ctx, "SELECT time, stream, block, line FROM result WHERE id = $1", []any{f.id[:]}, &at, &s,
			&block, &lines[i])
		switch known := u.k.names.stream(s); {
		case err != nil:
			return err
		case !there:
			return fmt.Errorf("result %s: %w", f.id, ErrUnknown)
		case at != f.time || known == nil || known.key != f.stream:
			return &Invalid{f.id.String(), "started, source, target, test, tool or kind", "different from what is filed",
				"the same"}
		}
		places[block] = append(places[block], i)
		if _, err := t.exec(ctx, "UPDATE result SET status = $1 WHERE id = $2", int64(f.status), f.id[:]); err != nil {
			return err
		}
	}
	for block, members := range places {
		if err := u.block(ctx, t, block, filings, members, lines); err != nil {
			return err
		}
	}
	return nil
}

func (u *updating) block(ctx context.Context, t *tx, block int64, filings []filing, members, lines []int) error {
	old, err := u.k.readBlock(ctx, t, block, filings[members[0]].time)
	if err != nil {
		return err
	}
	for _, i := range members {
		f := &filings[i]
		if lines[i] >= len(old) {
			return fmt.Errorf("result %s: %w", f.id, ErrUnknown)
		}
		was, err := decodeResult(old[lines[i]])
		if err != nil {
			return err
		}
		before := filing{stream: f.stream}
		if before.metrics, err = valuesIn(was); err != nil {
			return err
		}
		before.divide(was.Way)
		u.note(u.draft.stream(f.stream).id, f.time, u.run(f.time, before.metrics), u.run(f.time, f.metrics))
		u.other(f.time, before.other, f.other)
		old[lines[i]] = f.line
	}
	samples := slices.ContainsFunc(members, func(i int) bool { return filings[i].samples })
	return u.k.rewriteBlock(ctx, t, block, filings[members[0]].time, old, samples)
}

// other notes what an update changes for the other way of a Result that measured both ways.
func (u *updating) other(at int64, before, after *otherWay) {
	var old, new *run
	var of streamKey
	if before != nil {
		of, old = before.stream, u.run(at, before.metrics)
	}
	if after != nil {
		of, new = after.stream, u.run(at, after.metrics)
	}
	if old != nil || new != nil {
		u.note(u.draft.stream(of).id, at, old, new)
	}
}

// rewriteBlock replaces the lines of a block of the day in which a time lies. Where samples is set it has some now,
// else as many as before.
func (k *keeper) rewriteBlock(ctx context.Context, t *tx, block, ns int64, lines [][]byte, samples bool) error {
	data := k.packer.pack(append(bytes.Join(lines, newline), '\n'))
	set := "data = $1"
	if samples {
		set += ", samples = 1"
	}
	if _, err := t.exec(ctx, "UPDATE block SET "+set+" WHERE "+blockIs(block, ns), data); err != nil {
		return fmt.Errorf("replace block: %w", err)
	}
	return nil
}

// stream is a copy of a stream, with its new latest values.
func (u *updating) stream(id streamID) *stream {
	if s := u.streams[id]; s != nil {
		return s
	}
	known := u.k.names.stream(id)
	for i := 0; known == nil; i++ {
		if made := u.draft.batch.streams[i]; made.id == id {
			known = made
		}
	}
	u.streams[id] = &stream{known.id, known.key, known.pair, streamTail{known.first, known.last, slices.Clone(known.latest)}}
	return u.streams[id]
}

// latest writes the latest values of the streams that were changed.
func (u *updating) latest(ctx context.Context, t *tx) error {
	for at, changes := range u.changes {
		for _, c := range changes {
			if c.new != nil {
				u.stream(at.stream).note(*c.new)
			}
		}
	}
	var rows []latestRow
	for id, s := range u.streams {
		rows = append(rows, latestRow{id, s.bytes()})
	}
	return u.k.store.writeLatest(ctx, t, rows)
}

// publish makes new names and latest values known to queries, and new rows to moving.
func (u *updating) publish() {
	u.k.newest = u.newest
	u.k.memory.Lock()
	defer u.k.memory.Unlock()
	for i, m := range u.draft.batch.metrics {
		u.k.names.addMetric(m, u.draft.newMetrics[i])
	}
	for _, s := range u.draft.batch.streams {
		u.k.names.addStream(s)
	}
	for id, s := range u.streams {
		known := u.k.names.stream(id)
		known.streamTail = s.streamTail
		u.k.names.learn(known)
	}
	u.k.filed.begin()
	for at := range u.changes {
		u.k.filed.changed(at.day * day)
	}
}

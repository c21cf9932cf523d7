package archive

import (
	"context"
	"fmt"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

func parseID(id string) ([]byte, error) {
	key, err := ulid.ParseStrict(id)
	return key[:], err
}

// rename gives the streams another name of which all Results have the same one that is free.
func (f *refiling) rename(ctx context.Context) error {
	pure := f.pure()
	if err := f.k.store.change(ctx, func(t *tx) error {
		for id := range pure { // two may take each other's name
			if _, err := t.exec(ctx, "UPDATE stream SET role = $1 WHERE id = $2", fmt.Sprintf("refile %d", id), int64(id)); err != nil {
				return err
			}
		}
		for id, key := range pure {
			if _, err := t.exec(ctx, "UPDATE stream SET source = $1, target = $2, role = $3 WHERE id = $4", key.source, key.target,
				string(key.role), int64(id)); err != nil {
				return err
			}
		}
		return f.misses(ctx, t, pure)
	}); err != nil {
		return err
	}
	for id := range pure {
		f.renamed[id] = true
	}
	return f.k.load(ctx)
}

// pure returns the streams of which all Results move to one other stream, with that stream's name: they are renamed whole.
func (f *refiling) pure() map[streamID]streamKey {
	pure := map[streamID]streamKey{}
	for id, keys := range f.moving {
		for key, n := range keys {
			if s := f.k.names.stream(id); key != s.key && n+f.unknown[id] == f.all[id] {
				pure[id] = key
			}
		}
	}
	for again := true; again; {
		again = false
		for id, key := range pure {
			if taken := f.k.names.byKey[key]; taken != nil && pure[taken.id] == (streamKey{}) {
				delete(pure, id)
				again = true
			}
		}
	}
	return pure
}

// misses says of misses of the tests of which all data goes back, or both ways, that theirs would have.
func (f *refiling) misses(ctx context.Context, t *tx, renamed map[streamID]streamKey) error {
	ways := map[testTool]measure.Way{}
	for is, both := range f.both {
		if both {
			ways[is] = measure.Both
		}
	}
	for id, key := range renamed {
		if key.source == f.k.names.stream(id).key.target {
			ways[testTool{key.test, key.tool}] = measure.Reverse
		}
	}
	for of, way := range ways {
		if _, err := t.exec(ctx, "UPDATE miss SET way = $1 WHERE test = $2 AND tool = $3", string(way), of.test, of.tool); err != nil {
			return err
		}
	}
	return nil
}

// block files the Results of a block anew.
func (f *refiling) block(ctx context.Context, b blockRow) error {
	u := f.k.newUpdating()
	err := f.k.store.change(ctx, func(t *tx) error {
		lines, err := f.k.readBlock(ctx, t, b.id, b.day*day)
		if err != nil {
			return err
		}
		changed := false
		for i, line := range lines {
			r, knows, err := f.read(line)
			if err != nil {
				return err
			}
			if r == nil {
				continue
			}
			filed, err := f.result(ctx, t, u, r, knows)
			if err != nil {
				return fmt.Errorf("result %s: %w", r.ID, err)
			}
			if filed != nil {
				lines[i], changed = filed, true
			}
		}
		if !changed {
			return nil
		}
		if err := f.k.rewriteBlock(ctx, t, b.id, b.day*day, lines, false); err != nil {
			return err
		}
		return u.write(ctx, t)
	})
	if err == nil {
		u.publish()
	}
	return err
}

// result files one anew, and returns its new line; nil: it stays as it is.
func (f *refiling) result(ctx context.Context, t *tx, u *updating, r *measure.Result, knows bool) ([]byte, error) {
	s, err := f.streamOf(ctx, t, r.ID)
	if err != nil || s == nil || !knows && !f.renamed[s.id] {
		return nil, err
	}
	if !knows && s.key == keyOf(r).back() {
		r.Way = measure.Reverse // as of all others in its stream
	}
	values, err := valuesIn(r)
	if err != nil {
		return nil, err
	}
	made, err := f.k.newFiling(r, new(sorter))
	if err != nil {
		return nil, err
	}
	if made.line == nil { // the rules keep no more of these than what there is
		if made.line, err = appendResult(nil, r, values[:len(r.Metrics)]); err != nil {
			return nil, err
		}
	}
	if made.stream == s.key && made.other == nil {
		return made.line, nil
	}
	return made.line, f.moveRun(ctx, t, u, s, u.run(made.time, values), &made)
}

// moveRun moves what is kept of a run to the streams of its Result.
func (f *refiling) moveRun(ctx context.Context, t *tx, u *updating, from *stream, was *run, made *filing) error {
	f.touched[from.id] = true
	to := u.draft.stream(made.stream)
	if _, err := t.exec(ctx, "UPDATE result SET stream = $1 WHERE id = $2", int64(to.id), made.id[:]); err != nil {
		return err
	}
	kept, err := f.k.runsOfStream(ctx, t, streamDay{from.id, floorDiv(made.time, day)})
	if err != nil || !slices.ContainsFunc(kept, was.covers) {
		return err
	}
	now := u.run(made.time, made.metrics)
	if to.id == from.id {
		u.note(from.id, made.time, was, now)
	} else {
		u.note(from.id, made.time, was, nil)
		u.note(to.id, made.time, nil, now)
	}
	u.other(made.time, nil, made.other)
	return nil
}

// end finds out what is the newest of streams that have lost runs, and notes that all is done.
func (f *refiling) end(ctx context.Context) error {
	err := f.k.store.change(ctx, func(t *tx) error {
		var rows []latestRow
		for id := range f.touched {
			s := f.k.names.stream(id)
			left := streamTail{first: s.first, last: s.last}
			for d := floorDiv(s.first, day); d <= floorDiv(s.last, day); d++ {
				runs, err := f.k.runsOfStream(ctx, t, streamDay{id, d})
				if err != nil {
					return err
				}
				for _, r := range runs {
					left.note(r)
				}
			}
			for _, l := range s.latest {
				if err := left.keep(ctx, t, id, l); err != nil {
					return err
				}
			}
			rows = append(rows, latestRow{id, left.bytes()})
		}
		if err := f.k.store.writeLatest(ctx, t, rows); err != nil {
			return err
		}
		return setState(ctx, t, map[string]int64{"refile": 0})
	})
	if err != nil {
		return err
	}
	return f.k.load(ctx)
}

// keep takes in a latest value of which there are no points if there are rollups.
func (s *streamTail) keep(ctx context.Context, t *tx, id streamID, l latestValue) error {
	if slices.ContainsFunc(s.latest, func(known latestValue) bool { return known.metric == l.metric }) {
		return nil
	}
	var one int64
	const coarsest = len(Levels) - 1
	there, err := t.one(ctx, fmt.Sprintf("SELECT start FROM rollup WHERE level = %d AND series = %d LIMIT 1", coarsest,
		id.rowOf(coarsest, l.metric, false)), nil, &one)
	if there {
		s.note(run{l.time, []value{{metric: l.metric, value: l.value}}})
	}
	return err
}

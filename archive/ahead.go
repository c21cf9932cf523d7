package archive

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// Moving is two goroutines' work: one makes the rows of the next steps, out of the journal and the rows that are there,
// while the writer writes those of the last one. That is safe, since between two steps nobody but the writer changes
// rows, and before it does anything but commits and steps it calls forgetAhead.
//
//	ahead:   make 1 | make 2     | make 3   | wait   |
//	writer:         | write 1 | commit | write 2 | commit | write 3

// bytesInStep is how much of the journal one step of moving takes, where each stream counts for what its rows take at
// least: Put waits for a step, which takes a tenth of a second or so.
const (
	bytesInStep   = 2 << 20
	bytesOfStream = 16 << 10
)

// ahead prepares the steps by which one generation moves from memory to points and rollups, ahead of their writing.
type ahead struct {
	k       *keeper
	from    *pending
	order   []streamID
	tools   []string // of order
	maker   *rowMaker
	newest  newestRows // that were there before this generation
	blender blender
	steps   chan moveStep // the next one
	cancel  context.CancelFunc
	done    chan struct{}
}

// moveStep is what one step writes.
type moveStep struct {
	streams int // how many of those in order
	points  []pointsRow
	rollups []rollupRow
	err     error
}

// goAhead starts to make the steps of what is being moved.
func (k *keeper) goAhead() {
	ctx, cancel := context.WithCancel(context.Background())
	a := &ahead{k: k, from: k.moving, order: k.order, maker: k.newRowMaker(slices.Clone(k.names.metrics)),
		newest: k.newestBefore, steps: make(chan moveStep, 1), cancel: cancel, done: make(chan struct{})}
	for _, id := range k.order {
		a.tools = append(a.tools, k.names.stream(id).key.tool)
	}
	k.ahead = a
	go a.make(ctx)
}

// forgetAhead ends what goAhead began, because what it read may change.
func (k *keeper) forgetAhead() {
	if k.ahead == nil {
		return
	}
	k.ahead.cancel()
	<-k.ahead.done
	k.ahead = nil
}

func (a *ahead) make(ctx context.Context) {
	defer close(a.done)
	for done := 0; done < len(a.order); {
		var step moveStep
		if err := a.k.safely("make rows", func() error { step = a.step(ctx, done); return nil }); err != nil {
			step = moveStep{err: err}
		}
		select {
		case a.steps <- step:
		case <-ctx.Done():
			return
		}
		if done += step.streams; step.err != nil {
			return
		}
	}
}

// step makes the next step after so many streams.
func (a *ahead) step(ctx context.Context, done int) (s moveStep) {
	for bytes := 0; done+s.streams < len(a.order) && bytes < bytesInStep; s.streams++ {
		id, tool := a.order[done+s.streams], a.tools[done+s.streams]
		if s.err = a.addStream(&s, id, tool); s.err != nil {
			return s
		}
		bytes += bytesOfStream + len(a.from.runs[id])
	}
	slices.SortFunc(s.rollups, func(a, b rollupRow) int { return a.compare(b.rollupKey) })
	if err := a.k.store.view(ctx, func(t *tx) error { return a.blend(ctx, t, s.rollups) }); err != nil {
		s.err = fmt.Errorf("read rollups: %w", err)
	}
	return s
}

// addStream adds a stream's rows to a step. One over which that panics has none, so that it keeps no other from being moved: its
// Results stay, and graphs leave them out.
func (a *ahead) addStream(s *moveStep, id streamID, tool string) error {
	runs, err := a.from.of(id)
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	points, rollups := s.points, s.rollups
	_ = a.k.safely(fmt.Sprintf("make rows of stream %d", id), func() error {
		points = a.maker.points(points, a.from.generation, id, tool, runs)
		rollups = a.maker.rollups(rollups, id, tool, runs)
		s.points, s.rollups = points, rollups
		return nil
	})
	return nil
}

func (a rollupKey) compare(b rollupKey) int {
	return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.start, b.start), cmp.Compare(a.series, b.series))
}

// blend merges rows, which are in order, with those that are in the database.
func (a *ahead) blend(ctx context.Context, t *tx, rows []rollupRow) error {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].level == rows[0].level && rows[n].start == rows[0].start {
			n++
		}
		if rows[0].start <= a.newest[rows[0].level] { // of what is newer, no row of these streams is there
			if err := a.blendStart(ctx, t, rows[:n]); err != nil {
				return err
			}
		}
		rows = rows[n:]
	}
	return nil
}

// blendStart merges rows of one level and start with those that are in the database.
func (a *ahead) blendStart(ctx context.Context, t *tx, rows []rollupRow) error {
	all := make([]seriesID, len(rows))
	for i := range rows {
		all[i] = rows[i].series
	}
	var series seriesID
	var old sql.RawBytes
	query := fmt.Sprintf("SELECT series, data FROM rollup WHERE level = %d AND start = %d AND ", rows[0].level,
		rows[0].start) +
		among("series", all)
	return t.each(ctx, query, nil, []any{&series, &old}, func() (err error) {
		at, found := slices.BinarySearch(all, series)
		if !found {
			return errDamaged
		}
		rows[at].old = true
		merged := rows[at].data
		err = a.k.safely(fmt.Sprintf("merge rollups of series %d", series), func() (err error) {
			merged, err = a.blender.add(rows[at].level, old, merged)
			return err
		})
		if broken := (*brokenError)(nil); errors.As(err, &broken) { // what is there stays
			merged, err = slices.Clone(old), nil
		}
		rows[at].data = merged
		return err
	})
}

package archive

import (
	"context"
	"fmt"
)

// beginMove makes what has come so far a generation to be moved, if none is.
func (k *keeper) beginMove() {
	if k.moving != nil || len(k.active.runs) == 0 {
		return
	}
	order := k.active.order()
	k.memory.Lock()
	k.moving, k.order = k.active, order
	k.active = newPending(k.moving.generation + 1)
	k.memory.Unlock()
	k.newestBefore = k.newest
	k.startAhead()
}

// startAhead begins to make the steps of what is being moved, as goAhead does. After a panic it notes why nothing can be moved now.
func (k *keeper) startAhead() {
	if err := k.safely("begin to move values", func() error { k.goAhead(); return nil }); err != nil {
		k.broken = true
		k.noteMove(err)
	}
}

// nextStep is readable when the next step of moving can be written: nil, and so never, when nothing is to be moved.
func (k *keeper) nextStep() <-chan moveStep {
	if k.moving == nil || k.lastMove != nil {
		return nil
	}
	if k.ahead == nil {
		k.startAhead()
	}
	if k.ahead == nil {
		return nil
	}
	return k.ahead.steps
}

// moveNext waits for the next step, and writes it.
func (k *keeper) moveNext() error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	k.lastMove = nil
	if err := k.mend(ctx); err != nil {
		k.noteMove(err)
		return err
	}
	next := k.nextStep()
	if next == nil {
		return k.lastMove
	}
	return k.move(<-next)
}

// move writes one step. What goes wrong is told to whoever asks, and tried again later: nothing is lost, since it stays
// in journal and memory.
func (k *keeper) move(s moveStep) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	err := s.err
	last := s.streams == len(k.order)
	if err == nil {
		err = k.safely("move values", func() error { return k.writeStep(ctx, s, last) })
	}
	if err != nil {
		k.broken = true
		k.forgetAhead()
		err = fmt.Errorf("move values: %w", k.store.explain(err))
		k.noteMove(err)
		return err
	}
	k.noteMove(nil)
	k.newest.note(s.rollups)
	if k.order = k.order[s.streams:]; last {
		k.forgetAhead()
		k.memory.Lock()
		k.moving = nil
		k.memory.Unlock()
	}
	k.countPending()
	return nil
}

func (k *keeper) writeStep(ctx context.Context, s moveStep, last bool) error {
	return k.store.change(ctx, func(t *tx) error {
		if err := k.store.write(ctx, t, s.points, s.rollups); err != nil {
			return err
		}
		if err := k.store.writeLatest(ctx, t, k.latestOf(k.order[:s.streams])); err != nil {
			return fmt.Errorf("write latest values: %w", err)
		}
		return noteProgress(ctx, t, k.moving.generation, k.order[s.streams-1], last)
	})
}

func (k *keeper) latestOf(streams []streamID) []latestRow {
	rows := make([]latestRow, len(streams))
	for i, id := range streams {
		rows[i] = latestRow{id, k.names.stream(id).bytes()}
	}
	return rows
}

func (k *keeper) noteMove(err error) {
	if k.lastMove = err; err == nil {
		k.counts.moveError.Store(nil)
		return
	}
	text := err.Error()
	k.counts.moveError.Store(&text)
	k.options.Log.Warn("values stay in the journal for now", "error", err)
}

// moveAll moves everything that is in memory.
func (k *keeper) moveAll() error {
	for k.moving != nil || len(k.active.runs) > 0 {
		k.beginMove()
		if err := k.moveNext(); err != nil {
			return err
		}
	}
	return nil
}

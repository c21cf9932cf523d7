package archive

import (
	"context"
	"fmt"
	"iter"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// Result implements Archive.
func (k *keeper) Result(ctx context.Context, id string) (*measure.Result, error) {
	if err := k.enter(); err != nil {
		return nil, err
	}
	defer k.leave()
	key, err := ulid.ParseStrict(id)
	if err != nil {
		return nil, badQuery("id", id, "a ULID of 26 characters")
	}
	var found []*measure.Result
	err = k.store.view(ctx, func(t *tx) error {
		var at place
		if _, err := t.one(ctx, "SELECT block, time, line FROM result WHERE id = $1", []any{key[:]}, &at.block, &at.time,
			&at.line); err != nil {
			return err
		}
		found, err = k.fetch(ctx, t, []place{at})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read result %s: %w", id, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("result %s: %w", id, ErrUnknown)
	}
	return found[0], nil
}

// place is where a Result is.
type place struct {
	block int64 // 0: it was not kept
	time  int64 // of the Result, ns: its block is of that day
	line  int
}

// blockIs is the condition that a row is one block. It names the day, and in figures, so that PostgreSQL opens no more
// than the partition of that day.
func blockIs(block, ns int64) string {
	return fmt.Sprintf("id = %d AND day = %d", block, floorDiv(ns, day))
}

// fetch reads Results in the order of their places. What has been pruned is left out.
func (k *keeper) fetch(ctx context.Context, t *tx, places []place) ([]*measure.Result, error) {
	blocks := map[int64][][]byte{}
	found := make([]*measure.Result, 0, len(places))
	for _, at := range places {
		lines, known := blocks[at.block]
		if !known {
			var err error
			if lines, err = k.readBlock(ctx, t, at.block, at.time); err != nil {
				return nil, err
			}
			blocks[at.block] = lines
		}
		if at.line >= len(lines) {
			continue
		}
		r, err := decodeResult(lines[at.line])
		if err != nil {
			return nil, fmt.Errorf("block %d, line %d: %w", at.block, at.line, err)
		}
		found = append(found, r)
	}
	return found, nil
}

// readBlock returns the lines of a block of the day in which a time lies; none if it is pruned.
func (k *keeper) readBlock(ctx context.Context, t *tx, id, ns int64) ([][]byte, error) {
	var data []byte
	if id == 0 {
		return nil, nil
	}
	if there, err := t.one(ctx, "SELECT data FROM block WHERE "+blockIs(id, ns), nil, &data); err != nil || !there {
		return nil, err
	}
	lines, err := k.packer.unpack(data)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", id, err)
	}
	return lines, nil
}

// Limits of a page, and how many Results are looked through for one before it is handed out short.
const (
	usualPage   = 100
	largestPage = 1000
	mostScanned = 1_000_000
)

// Results implements Archive.
func (k *keeper) Results(ctx context.Context, q ResultQuery) (ResultPage, error) {
	if err := k.enter(); err != nil {
		return ResultPage{}, err
	}
	defer k.leave()
	l, err := k.newListing(q)
	if err != nil {
		return ResultPage{}, err
	}
	page := ResultPage{Results: []*measure.Result{}}
	err = k.store.view(ctx, func(t *tx) error {
		places, next, err := l.scan(ctx, k, t)
		if err != nil {
			return err
		}
		page.Next = next
		page.Results, err = k.fetch(ctx, t, places)
		return err
	})
	if err != nil {
		return ResultPage{}, fmt.Errorf("list results: %w", err)
	}
	return page, nil
}

// All implements Archive.
func (k *keeper) All(ctx context.Context, q ResultQuery) iter.Seq2[*measure.Result, error] {
	return func(yield func(*measure.Result, error) bool) {
		for {
			page, err := k.Results(ctx, q)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range page.Results {
				if !yield(r, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			q.Cursor = page.Next
		}
	}
}

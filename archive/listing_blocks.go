package archive

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/oklog/ulid/v2"
)

// Results of tools that are seldom used, such as diagnoses, are far between in the list of all, and their runs in the
// points. But blocks are of one tool and day, and found by these. So where there are no more blocks than days, and little
// in them, they are read, which takes less than looking up the points of the days.
const (
	rareDays       = 30      // that are looked at together, at first
	rareBlockBytes = 4 << 10 // compressed, on average
)

// scanBlocks is the part of scan as far back as blocks are few and small. It leaves the rest of the span, if the page is
// not full before.
func (l *listing) scanBlocks(ctx context.Context, k *keeper, t *tx, places []place) ([]place, error) {
	if l.every || l.status > 0 { // troubled ones have an index of their own
		return places, nil
	}
	for days := int64(rareDays); l.from < l.to; days *= 2 {
		start := max(l.from, (floorDiv(l.to-1, day)-days+1)*day)
		blocks, err := l.rareBlocks(ctx, t, floorDiv(start, day), floorDiv(l.to, day))
		if err != nil || blocks == nil {
			return places, err
		}
		for len(blocks) > 0 {
			n := 1
			for n < len(blocks) && blocks[n].day == blocks[0].day {
				n++
			}
			if places, err = l.addBlocks(ctx, k, t, blocks[:n], places); err != nil || len(places) == l.limit {
				return places, err
			}
			blocks = blocks[n:]
		}
		l.to, l.before = start, ulid.ULID{}
	}
	return places, nil
}

// rareBlocks are the blocks of the tools from a day to another, the newest first; nil if they are many or large.
func (l *listing) rareBlocks(ctx context.Context, t *tx, first, last int64) ([]blockRow, error) {
	blocks := []blockRow{}
	var one blockRow
	var size, total int64
	most := last - first + 1
	for tool := range l.tools {
		query := fmt.Sprintf("SELECT id, day, length(data) FROM block WHERE tool = $1 AND day >= %d AND day <= %d LIMIT %d",
			first, last, most+1)
		err := t.each(ctx, query, []any{tool}, []any{&one.id, &one.day, &size}, func() error {
			blocks, total = append(blocks, one), total+size
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find blocks: %w", err)
		}
		if int64(len(blocks)) > most || total > most*rareBlockBytes {
			return nil, nil
		}
	}
	slices.SortFunc(blocks, func(a, b blockRow) int { return cmp.Compare(b.day, a.day) })
	return blocks, nil
}

// addBlocks adds the next Results of the blocks of one day.
func (l *listing) addBlocks(ctx context.Context, k *keeper, t *tx, blocks []blockRow, places []place) ([]place, error) {
	type placed struct {
		place
		id ulid.ULID
	}
	var found []placed
	for _, b := range blocks {
		lines, err := k.readBlock(ctx, t, b.id, b.day*day)
		if err != nil {
			return nil, err
		}
		for i, line := range lines {
			r, err := decodeResult(line)
			if err != nil {
				return nil, fmt.Errorf("block %d: %w", b.id, err)
			}
			id, err := ulid.ParseStrict(r.ID)
			if err != nil {
				return nil, fmt.Errorf("block %d: %w", b.id, err)
			}
			k.memory.RLock()
			known := k.names.byKey[keyOf(r)]
			k.memory.RUnlock()
			at := r.Started.UnixNano()
			if known == nil || !l.wanted[known.id] || l.status >= 0 && statuses[l.status] != r.Status ||
				at < l.from || at > l.to || at == l.to && bytes.Compare(id[:], l.before[:]) >= 0 {
				continue
			}
			found = append(found, placed{place{b.id, at, i}, id})
		}
	}
	slices.SortFunc(found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(b.time, a.time), bytes.Compare(b.id[:], a.id[:]))
	})
	for _, p := range found {
		if len(places) == l.limit {
			break
		}
		places = append(places, p.place)
		l.to, l.before = p.time, p.id
	}
	return places, nil
}

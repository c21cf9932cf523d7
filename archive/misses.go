package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// longestWhy is what is kept of a reason, in bytes.
const longestWhy = 1000

// PutMisses implements Archive.
func (k *keeper) PutMisses(ctx context.Context, misses []measure.Miss) error {
	if err := k.enter(); err != nil {
		return err
	}
	defer k.leave()
	ids := make([]ulid.ULID, len(misses))
	for i, m := range misses {
		var err error
		if ids[i], err = checkMiss(m); err != nil {
			return err
		}
	}
	return k.do(ctx, func(ctx context.Context) error { return k.fileMisses(ctx, ids, misses) })
}

func (k *keeper) fileMisses(ctx context.Context, ids []ulid.ULID, misses []measure.Miss) error {
	if k.restoring {
		return ErrHalfRestored
	}
	keys := make([][]byte, len(ids))
	for i := range ids {
		keys[i] = ids[i][:]
	}
	added := int64(0)
	err := k.store.change(ctx, func(t *tx) error {
		filed, err := known(ctx, t, keys)
		if err != nil {
			return err
		}
		for i, m := range misses {
			if filed[string(keys[i])] {
				continue
			}
			n, err := insertMiss(ctx, t, ids[i], m)
			if err != nil {
				return err
			}
			added += n
		}
		return nil
	})
	if err != nil {
		k.broken = true
		return err
	}
	k.misses += added
	return nil
}

func insertMiss(ctx context.Context, t *tx, id ulid.ULID, m measure.Miss) (int64, error) {
	n, err := t.exec(ctx, `INSERT INTO miss (id, time, test, tool, source, target, way, why)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
		id[:], m.Start.UnixNano(), m.Test, m.Tool, m.Source, m.Target, string(m.Way), fitting(m.Why))
	if err != nil {
		return 0, fmt.Errorf("file misses: %w", err)
	}
	return n, nil
}

// fitting returns the part of a reason that is kept: its beginning, without what PostgreSQL takes for no text.
func fitting(why string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(why[:min(len(why), longestWhy)], "\x00", ""), "")
}

func checkMiss(m measure.Miss) (ulid.ULID, error) {
	id, err := ulid.ParseStrict(m.Run)
	if err != nil {
		return id, &Invalid{m.Run, "run", m.Run, "a ULID of 26 characters"}
	}
	if m.Start.Before(time.Unix(0, 0)) || !m.Start.Before(latestTime) {
		return id, &Invalid{m.Run, "start", m.Start.Format(time.RFC3339), "a time from 1970 to 2199"}
	}
	for field, name := range map[string]string{"test": m.Test, "tool": m.Tool, "source": m.Source, "target": m.Target} {
		if !fits(name) {
			return id, &Invalid{m.Run, field, name, fmt.Sprintf("at most %d characters without control characters", longestName)}
		}
	}
	return id, nil
}

// dropMisses deletes the misses of which the Results have come after all, in the transaction that files those.
func (k *keeper) dropMisses(ctx context.Context, t *tx, b *batch) error {
	if k.misses == 0 {
		return nil
	}
	keys := make([][]byte, len(b.results))
	for i := range keys {
		keys[i] = b.results[i].id
	}
	var id []byte
	var came [][]byte
	if err := t.eachOf(ctx, "SELECT id FROM miss WHERE id", keys, []any{&id}, func() error {
		came = append(came, slices.Clone(id))
		return nil
	}); err != nil {
		return fmt.Errorf("look up misses: %w", err)
	}
	for _, id := range came {
		if _, err := t.exec(ctx, "DELETE FROM miss WHERE id = $1", id); err != nil {
			return fmt.Errorf("drop misses: %w", err)
		}
	}
	return nil
}

// known returns which of these IDs are filed.
func known(ctx context.Context, t *tx, ids [][]byte) (map[string]bool, error) {
	found := map[string]bool{}
	var id []byte
	err := t.eachOf(ctx, "SELECT id FROM result WHERE id", ids, []any{&id}, func() error {
		found[string(id)] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up results: %w", err)
	}
	return found, nil
}

// Misses implements Archive.
func (k *keeper) Misses(ctx context.Context, q MissQuery) ([]measure.Miss, error) {
	if err := k.enter(); err != nil {
		return nil, err
	}
	defer k.leave()
	s, err := newSelector(Match{Source: q.Source, Target: q.Target, Test: q.Test, Tool: q.Tool}, "")
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 1000
	}
	from, to := span(q.From, q.To)
	found := []measure.Miss{}
	err = k.store.view(ctx, func(t *tx) error {
		return eachMiss(ctx, t, s, from, to, func(m measure.Miss) error {
			if len(found) == limit {
				return errEnough
			}
			found = append(found, m)
			return nil
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("list misses: %w", err)
	}
	return found, nil
}

// eachMiss calls each for the misses that a selector lets pass, newest first.
func eachMiss(ctx context.Context, t *tx, s selector, from, to int64, each func(measure.Miss) error) error {
	var id []byte
	var at int64
	var m measure.Miss
	query, args := "SELECT id, time, test, tool, source, target, way, why FROM miss WHERE time >= $1 AND time < $2",
		[]any{from, to}
	for column, m := range map[string]matcher{"source": s.source, "target": s.target} {
		if m.exact {
			args = append(args, m.pattern)
			query += fmt.Sprintf(" AND (%s = $%d OR way IN ('reverse', 'both'))", column, len(args))
		}
	}
	query += " ORDER BY time DESC, id DESC"
	return t.each(ctx, query, args, []any{&id, &at, &m.Test, &m.Tool, &m.Source, &m.Target, &m.Way, &m.Why}, func() error {
		if !s.matchesMiss(&m) {
			return nil
		}
		m.Run, m.Start = ulid.ULID(id).String(), time.Unix(0, at).UTC()
		return each(m)
	})
}

// matchesMiss tells whether the selector lets a stream pass that the Result would have been filed in.
func (s selector) matchesMiss(m *measure.Miss) bool {
	key := streamKey{source: m.Source, target: m.Target, test: m.Test, tool: m.Tool, role: measure.RoleOf(m.Test)}
	return m.Way != measure.Reverse && s.matchesStream(key) ||
		(m.Way == measure.Reverse || m.Way == measure.Both) && s.matchesStream(key.back())
}

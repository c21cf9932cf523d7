package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// restoring is what one transaction restores.
type restoring struct {
	k           *keeper
	before      bool // the backup is of backupSchema1
	state       *backupState
	metrics     []metricID
	metricNames []string
	streams     []*stream
	filings     []filing
	sorter      sorter
	filed       []backupFiled
	misses      []measure.Miss
	journal     []backupJournal
	points      []pointsRow
	rollups     []rollupRow
}

// read takes in the next lines, and says whether there are more.
func (s *restoring) read(r *backupReader) (more bool, err error) {
	for range linesTogether {
		l, err := r.next()
		if err != nil {
			return false, err
		}
		if l.End != 0 {
			if l.End != r.n-1 {
				return false, fmt.Errorf("%w: it has %d lines, and says %d", errBackup, r.n-1, l.End)
			}
			return false, nil
		}
		if err := s.take(l); err != nil {
			return false, fmt.Errorf("%w: line %d: %w", errBackup, r.n, err)
		}
	}
	return true, nil
}

// take checks a line, and takes it in.
func (s *restoring) take(l backupLine) error {
	switch {
	case l.State != nil:
		s.state = l.State
	case l.Metric != nil:
		s.metrics, s.metricNames = append(s.metrics, l.Metric.ID), append(s.metricNames, l.Metric.Name)
	case l.Stream != nil:
		return s.takeStream(l.Stream)
	case l.Result != nil:
		r, err := decodeResult(l.Result)
		if err != nil {
			return err
		}
		f, err := s.k.newFiling(r, &s.sorter)
		if err != nil {
			return err
		}
		if s.before { // as it was filed; refile does the rest
			f.stream, f.line = keyBefore(r), l.Result
		}
		s.filings = append(s.filings, f)
	case l.Filed != nil:
		if _, err := ulid.ParseStrict(l.Filed.ID); err != nil {
			return err
		}
		s.filed = append(s.filed, *l.Filed)
	case l.Miss != nil:
		if _, err := checkMiss(*l.Miss); err != nil {
			return err
		}
		s.misses = append(s.misses, *l.Miss)
	case l.Journal != nil:
		s.journal = append(s.journal, *l.Journal)
		return readJournal(l.Journal.Data, func(streamID, run, []byte) {})
	case l.Points != nil:
		s.points = append(s.points, pointsRow{l.Points.Slot, l.Points.Stream, l.Points.Generation, l.Points.Data})
		_, err := decodePoints(l.Points.Data, l.Points.Slot, nil)
		return err
	case l.Rollup != nil:
		return s.takeRollup(l.Rollup)
	default:
		return errors.New("nothing in it is known")
	}
	return nil
}

func (s *restoring) takeStream(l *backupStream) error {
	newest, err := decodeStreamTail(l.Latest)
	if err != nil {
		return err
	}
	if l.ID < 1 || l.ID >= mostStreams {
		return fmt.Errorf("stream %d", l.ID)
	}
	s.streams = append(s.streams, &stream{id: l.ID,
		key: streamKey{l.Source, l.Target, l.Test, l.Tool, l.Kind, cmp.Or(l.Role, measure.RoleOf(l.Test)), l.Subject}, streamTail: newest})
	return nil
}

func (s *restoring) takeRollup(l *backupRollup) error {
	if l.Level < 0 || l.Level >= len(Levels) || l.Start != chunkStart(l.Level, l.Start*1e9) {
		return fmt.Errorf("rollup of level %d, start %d", l.Level, l.Start)
	}
	buckets, err := decodeBuckets(nil, l.Data, l.Level)
	if err != nil {
		return err
	}
	for _, b := range buckets {
		if err := new(contents).read(b.sketch); err != nil {
			return fmt.Errorf("rollup of level %d, start %d: %w", l.Level, l.Start, errDamaged)
		}
	}
	series := streamID(l.Series >> 16).series(metricID(l.Series))
	s.rollups = append(s.rollups, rollupRow{rollupKey{l.Level, l.Start, series}, l.Data, false})
	return nil
}

// write files what was read as it was, without making anything of it.
func (s *restoring) write(ctx context.Context) error {
	k := s.k
	b := batch{streams: s.streams, metrics: s.metrics, names: s.metricNames}
	k.memory.Lock()
	for _, known := range s.streams {
		k.names.addStream(known) // load reads them all again when this has ended
	}
	k.memory.Unlock()
	if err := s.results(&b); err != nil {
		return err
	}
	return k.store.change(ctx, func(t *tx) error {
		if err := k.store.file(ctx, t, &b); err != nil {
			return err
		}
		if err := s.waiting(ctx, t); err != nil {
			return err
		}
		if err := k.store.write(ctx, t, s.points, s.rollups); err != nil {
			return err
		}
		if s.state == nil {
			return nil
		}
		return setState(ctx, t, map[string]int64{"moved": s.state.Moved, "upto": s.state.Upto, "pruned": s.state.Pruned})
	})
}

// results makes blocks of Results, as Put does.
func (s *restoring) results(b *batch) error {
	k := s.k
	for some := range slices.Chunk(s.filings, mostTogether) {
		q := k.newRequest(some)
		for _, p := range q.parts {
			block := int64(0)
			if p.packed != nil {
				k.lastBlock++
				block = k.lastBlock
				f := &q.filings[p.from]
				b.blocks = append(b.blocks, blockRow{block, f.time / day, f.stream.tool, p.samples, p.packed})
			}
			for i := p.from; i < p.to; i++ {
				f := &q.filings[i]
				known := k.names.byKey[f.stream]
				if known == nil {
					return fmt.Errorf("%w: result %s is of no stream", errBackup, f.id)
				}
				b.results = append(b.results, resultRow{f.id[:], f.time, known.id, f.status, block, i - p.from})
			}
		}
	}
	for _, f := range s.filed {
		id := ulid.MustParseStrict(f.ID)
		b.results = append(b.results, resultRow{id[:], f.Time, f.Stream, f.Status, 0, 0})
	}
	return nil
}

// waiting files journals and misses.
func (s *restoring) waiting(ctx context.Context, t *tx) error {
	for _, j := range s.journal {
		s.k.lastJournal++
		_, err := t.exec(ctx, "INSERT INTO journal (id, generation, data) VALUES ($1, $2, $3)", s.k.lastJournal,
			j.Generation, j.Data)
		if err != nil {
			return fmt.Errorf("restore journal: %w", err)
		}
	}
	for _, m := range s.misses {
		id, err := checkMiss(m)
		if err == nil {
			_, err = insertMiss(ctx, t, id, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package archive

import (
	"context"
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
)

// Matrix implements Archive.
func (k *keeper) Matrix(ctx context.Context, q MatrixQuery) ([]Cell, error) {
	s, err := k.ask(q.Match)
	if err != nil {
		return nil, err
	}
	defer k.leave()
	span := SeriesQuery{From: q.From, To: q.To, Quantiles: q.Quantiles}
	if err := span.validate(); err != nil {
		return nil, err
	}
	cells, err := k.matrices.get(ctx, k, q, func() ([]Cell, error) { return k.matrix(ctx, s, q) })
	if err != nil {
		return nil, fmt.Errorf("draw matrix: %w", err)
	}
	return cells, nil
}

// matrix makes an answer.
func (k *keeper) matrix(ctx context.Context, s selector, q MatrixQuery) ([]Cell, error) {
	v := k.newSampledView(s)
	m := k.newMatrix(v)
	defer k.matrices.release(m.sums)
	from, to := unixNano(q.From), unixNano(q.To)
	divide := func(at progress) []piece { return k.pieces(v, at, from, to) }
	how := v.merge()
	err := k.gather(ctx, v, from, to, divide, m, func(t *tx, at progress, pieces []piece) error {
		open := m.open(how)
		if open == nil {
			return nil
		}
		m.shares = make([]share, len(m.sums))
		into := func(id streamID, _ int64) *share { return &m.shares[m.cellOf[id]] }
		return k.countsOf(v, how, open).gather(ctx, k, t, at, from, to, pieces, into)
	})
	if err != nil {
		return nil, err
	}
	return m.cells(q.Quantiles, how), nil
}

// open returns which streams are of cells that need their counts; nil: there are none.
func (m *matrix) open(how measure.Merge) func(streamID) bool {
	if how.How != measure.MergeShare {
		return nil
	}
	var cells []bool
	for i := range m.sums {
		if s := &m.sums[i]; s.count() > 0 {
			if _, known := s.settle().merged(how); !known {
				if cells == nil {
					cells = make([]bool, len(m.sums))
				}
				cells[i] = true
			}
		}
	}
	if cells == nil {
		return nil
	}
	return func(id streamID) bool { return cells[m.cellOf[id]] }
}

// matrix is an answer in the making: a sum for every pair.
type matrix struct {
	cellOf []int32 // by stream: index into sums
	pairs  []Pair  // of sums
	sums   []sum
	shares []share // what is counted behind ratios; nil: their sums say it
}

// newMatrix makes room for the pairs of a view.
func (k *keeper) newMatrix(v *view) *matrix {
	k.memory.RLock()
	defer k.memory.RUnlock()
	m := &matrix{cellOf: make([]int32, len(k.names.streams)+1)}
	asked := make([]bool, len(k.names.pairs))
	for _, id := range v.ids {
		asked[k.names.stream(id).pair] = true
	}
	place := make([]int32, len(k.names.pairs))
	for _, i := range k.names.inOrder() {
		if asked[i] {
			place[i] = int32(len(m.pairs))
			m.pairs = append(m.pairs, k.names.pairs[i])
		}
	}
	for _, id := range v.ids {
		m.cellOf[id] = place[k.names.stream(id).pair]
	}
	m.sums = k.matrices.room(len(m.pairs))
	return m
}

// into returns the sum of the pair of a stream, whatever the time.
func (m *matrix) into(id streamID, _ int64) *sum { return &m.sums[m.cellOf[id]] }

// filled implements sums: what has values is not known before all is read.
func (m *matrix) filled(int64, int64) bool { return true }

// cells returns a cell for each pair of which anything was measured.
func (m *matrix) cells(quantiles []float64, how measure.Merge) []Cell {
	cells := make([]Cell, 0, len(m.pairs))
	var all []float64 // their quantiles: in one piece, for the garbage collector
	for i := range m.sums {
		s := &m.sums[i]
		if s.count() == 0 {
			continue
		}
		var counted *share
		if m.shares != nil {
			counted = &m.shares[i]
		}
		e := s.settle()
		c := Cell{m.pairs[i], e.answer(how, counted)}
		if len(all)+len(quantiles) > cap(all) {
			all = make([]float64, 0, 1024*len(quantiles))
		}
		from := len(all)
		for _, q := range quantiles {
			all = append(all, e.values.Quantile(q))
		}
		if len(quantiles) > 0 {
			c.Quantiles = all[from:len(all):len(all)]
		}
		cells = append(cells, c)
	}
	return cells
}

package archive

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// mostRemembered is how many bytes of answers are remembered: some ten matrices of 200 hosts.
const mostRemembered = 60 << 20

// What an answer takes, in bytes: by itself, for each cell, and for each quantile of one.
const (
	drawingBytes  = 1000
	cellBytes     = int(unsafe.Sizeof(Cell{}))
	quantileBytes = 8
)

// matrices remembers answers of Matrix while nothing changes in their span, and lets those who ask the same at the same
// time share the making of one.
type matrices struct {
	// making has room for as many as are made at once: each takes a processor and, of 200 hosts, 30 MB for an hour, and 90
	// for a month.
	making chan struct{}
	sums   sync.Pool // *[]sum

	mutex sync.Mutex
	known map[string]*list.Element // by matrixKey
	order *list.List               // of *drawing, the one used last in front
	bytes int                      // what all in order take
}

// drawing is one matrix. What follows done may be read when that is closed.
type drawing struct {
	key   string
	since int64 // number of the last change when its making began
	bytes int   // what it takes; 0: it is being made
	done  chan struct{}

	cells []Cell
	err   error
}

func newMatrices() *matrices {
	return &matrices{making: make(chan struct{}, runtime.GOMAXPROCS(0)), known: map[string]*list.Element{},
		order: list.New()}
}

// matrixKey is what two queries with the same answer have in common.
func matrixKey(q MatrixQuery) string {
	return fmt.Sprintf("%q %d %d %v", q.Match, unixNano(q.From), unixNano(q.To), q.Quantiles)
}

// get returns an answer that still holds, or has one made.
func (a *matrices) get(ctx context.Context, k *keeper, q MatrixQuery, draw func() ([]Cell, error)) ([]Cell, error) {
	for {
		w, mine := a.find(k, q)
		if mine {
			a.fill(ctx, w, draw)
			return w.cells, w.err
		}
		select {
		case <-w.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !errors.Is(w.err, context.Canceled) && !errors.Is(w.err, context.DeadlineExceeded) {
			return w.cells, w.err
		}
		if ctx.Err() != nil { // else the other one had enough: try it again
			return nil, ctx.Err()
		}
	}
}

// find returns the answer to a query, and whether it is the caller's to fill.
func (a *matrices) find(k *keeper, q MatrixQuery) (w *drawing, mine bool) {
	key := matrixKey(q)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	k.memory.RLock()
	defer k.memory.RUnlock()
	if known := a.known[key]; known != nil {
		w := known.Value.(*drawing)
		if k.filed.holds(w.since, unixNano(q.From), unixNano(q.To)) {
			a.order.MoveToFront(known)
			return w, false
		}
		a.forget(known)
	}
	w = &drawing{key: key, since: k.filed.now, done: make(chan struct{})}
	a.known[key] = a.order.PushFront(w)
	return w, true
}

// fill has an answer made, and makes room for it. One that failed is forgotten.
func (a *matrices) fill(ctx context.Context, w *drawing, draw func() ([]Cell, error)) {
	defer close(w.done)
	select {
	case a.making <- struct{}{}:
		if w.cells, w.err = draw(); w.err != nil && ctx.Err() != nil {
			w.err = ctx.Err() // databases say it in other words
		}
		<-a.making
	case <-ctx.Done():
		w.err = ctx.Err()
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	known := a.known[w.key]
	if known == nil || known.Value != w {
		return // it was out of date before it was ready
	}
	if w.err != nil {
		a.forget(known)
		return
	}
	w.bytes = drawingBytes
	if n := len(w.cells); n > 0 {
		w.bytes += n * (cellBytes + quantileBytes*len(w.cells[0].Quantiles))
	}
	a.bytes += w.bytes
	for e, next := a.order.Back(), (*list.Element)(nil); e != nil && a.bytes > mostRemembered; e = next {
		if next = e.Prev(); e != known && e.Value.(*drawing).bytes > 0 { // one that is being made frees nothing
			a.forget(e)
		}
	}
}

// forget drops an answer.
func (a *matrices) forget(e *list.Element) {
	w := a.order.Remove(e).(*drawing)
	delete(a.known, w.key)
	a.bytes -= w.bytes
}

// room returns so many empty sums, of which some may bring memory.
func (a *matrices) room(n int) []sum {
	used, _ := a.sums.Get().(*[]sum)
	if used == nil {
		return make([]sum, n)
	}
	return slices.Grow((*used)[:0], n)[:n]
}

// release takes sums back that are no longer used.
func (a *matrices) release(sums []sum) {
	for i := range sums {
		sums[i].reset()
	}
	a.sums.Put(&sums)
}

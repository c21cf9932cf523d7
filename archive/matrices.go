package archive

import (
	"container/list"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// mostCells is how many cells are remembered: ten matrices of 200 hosts, which take about 60 MB.
const mostCells = 400_000

// drawingCost is what an answer takes without its cells, in cells.
const drawingCost = 10

// matrices remembers answers of Matrix while nothing changes in their span, and lets those who ask the same at the same
// time share the making of one.
type matrices struct {
	making chan struct{} // has room for as many as are made at once: each takes some 10 MB, and a processor
	sums   sync.Pool     // *[]stat.Sketch

	mutex sync.Mutex
	known map[string]*list.Element // by matrixKey
	order *list.List               // of *drawing, the one used last in front
	cells int                      // what all in order count for
}

// drawing is one matrix. What follows done may be read when that is closed.
type drawing struct {
	key   string
	since int64     // number of the last change when its making began
	began time.Time // by the archive's clock
	cost  int       // what it counts for in matrices.cells; 0: nothing yet
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
		if w.err == nil {
			return w.cells, nil
		}
		if ctx.Err() != nil { // else the other one had enough, or failed: try it again
			return nil, ctx.Err()
		}
	}
}

// find returns the answer to a query, and whether it is the caller's to fill.
func (a *matrices) find(k *keeper, q MatrixQuery) (w *drawing, mine bool) {
	key, now := matrixKey(q), k.options.Now()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	k.memory.RLock()
	defer k.memory.RUnlock()
	if known := a.known[key]; known != nil {
		w := known.Value.(*drawing)
		if k.filed.holds(w.since, unixNano(q.From), unixNano(q.To)) || now.Sub(w.began) < q.Age {
			a.order.MoveToFront(known)
			return w, false
		}
		a.forget(known)
	}
	w = &drawing{key: key, since: k.filed.now, began: now, done: make(chan struct{})}
	a.known[key] = a.order.PushFront(w)
	return w, true
}

// fill has an answer made, and makes room for it. One that failed is forgotten.
func (a *matrices) fill(ctx context.Context, w *drawing, draw func() ([]Cell, error)) {
	defer close(w.done)
	select {
	case a.making <- struct{}{}:
		w.cells, w.err = draw()
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
	w.cost = drawingCost + len(w.cells)
	a.cells += w.cost
	for last := a.order.Back(); a.cells > mostCells && last != known; last = a.order.Back() {
		a.forget(last)
	}
}

// forget drops an answer.
func (a *matrices) forget(e *list.Element) {
	w := a.order.Remove(e).(*drawing)
	delete(a.known, w.key)
	a.cells -= w.cost
}

// room returns so many empty sums, of which some may bring memory.
func (a *matrices) room(n int) []stat.Sketch {
	used, _ := a.sums.Get().(*[]stat.Sketch)
	if used == nil {
		return make([]stat.Sketch, n)
	}
	return slices.Grow((*used)[:0], n)[:n]
}

// release takes sums back that are no longer used.
func (a *matrices) release(sums []stat.Sketch) {
	for i := range sums {
		sums[i].Reset()
	}
	a.sums.Put(&sums)
}

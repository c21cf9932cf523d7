package lab

import "math"

// agenda orders the sources of events (directions, cross traffic, the timeline) by when each has something to do next;
// equal times by number, so that runs repeat exactly. It is a binary heap that knows where each source stands, since a
// source's next time changes with every packet.
type agenda struct {
	heap  []int   // sources, the earliest first
	place []int   // of each source in heap, -1: it has nothing to do
	at    []int64 // of each source
}

// never is after everything.
const never = math.MaxInt64

func newAgenda(sources int) agenda {
	a := agenda{place: make([]int, sources), at: make([]int64, sources)}
	for i := range a.place {
		a.place[i] = -1
	}
	return a
}

// next returns the earliest source and its time, or never.
func (a *agenda) next() (source int, at int64) {
	if len(a.heap) == 0 {
		return -1, never
	}
	return a.heap[0], a.at[a.heap[0]]
}

// set says when a source has something to do; not ok: it has nothing to do.
func (a *agenda) set(source int, at int64, ok bool) {
	k := a.place[source]
	switch {
	case !ok && k < 0:
	case !ok:
		a.remove(k)
	case k < 0:
		a.at[source] = at
		a.heap = append(a.heap, source)
		a.place[source] = len(a.heap) - 1
		a.up(len(a.heap) - 1)
	case a.at[source] != at:
		a.at[source] = at
		a.fix(k)
	}
}

func (a *agenda) remove(k int) {
	last := len(a.heap) - 1
	a.place[a.heap[k]] = -1
	moved := a.heap[last]
	a.heap = a.heap[:last]
	if k < last {
		a.heap[k], a.place[moved] = moved, k
		a.fix(k)
	}
}

func (a *agenda) fix(k int) {
	if a.up(k) == k {
		a.down(k)
	}
}

func (a *agenda) less(i, j int) bool {
	x, y := a.heap[i], a.heap[j]
	return a.at[x] < a.at[y] || a.at[x] == a.at[y] && x < y
}

func (a *agenda) swap(i, j int) {
	a.heap[i], a.heap[j] = a.heap[j], a.heap[i]
	a.place[a.heap[i]], a.place[a.heap[j]] = i, j
}

func (a *agenda) up(k int) int {
	for k > 0 && a.less(k, (k-1)/2) {
		a.swap(k, (k-1)/2)
		k = (k - 1) / 2
	}
	return k
}

func (a *agenda) down(k int) {
	for {
		child := 2*k + 1
		if child >= len(a.heap) {
			return
		}
		if child+1 < len(a.heap) && a.less(child+1, child) {
			child++
		}
		if !a.less(child, k) {
			return
		}
		a.swap(k, child)
		k = child
	}
}

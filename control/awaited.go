package control

import (
	"container/heap"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// grace is how long after a run's limit its Result may take before the run counts as missed: an agent commits Results
// once a second and delivers again after half a minute.
const grace = time.Minute

// awaitedRuns knows the planned runs of which no Result came yet. A miss is no verdict for ever: the archive takes a Result
// that comes later in its place.
type awaitedRuns struct {
	mu    sync.Mutex
	open  map[string]measure.Run
	queue overdueQueue // by limit; what is no longer open is skipped
}

func newAwaitedRuns() *awaitedRuns { return &awaitedRuns{open: map[string]measure.Run{}} }

// expect notes runs that were sent out. One that is known already stays as it is.
func (l *awaitedRuns) expect(runs []measure.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range runs {
		if _, known := l.open[r.ID]; known {
			continue
		}
		l.open[r.ID] = r
		heap.Push(&l.queue, overdue{r.ID, r.Limit().Add(grace)})
	}
}

// came notes that a run has its Result, and returns the run if it is the first.
func (l *awaitedRuns) came(id string) (run measure.Run, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	run, first = l.open[id]
	delete(l.open, id)
	return run, first
}

// source names the host that a run is of which no Result came yet.
func (l *awaitedRuns) source(id string) (host string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.open[id]
	return r.Source, known
}

// withdraw forgets runs that will not take place because a newer plan has others.
func (l *awaitedRuns) withdraw(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		delete(l.open, id)
	}
}

// missed takes out the runs whose Result should have come by now.
func (l *awaitedRuns) missed(now time.Time) []measure.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	var runs []measure.Run
	for len(l.queue) > 0 && l.queue[0].at.Before(now) {
		id := heap.Pop(&l.queue).(overdue).id
		if r, open := l.open[id]; open {
			delete(l.open, id)
			runs = append(runs, r)
		}
	}
	return runs
}

// waiting is how many runs have no Result yet.
func (l *awaitedRuns) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// overdue is when a run's Result should have come.
type overdue struct {
	id string
	at time.Time
}

type overdueQueue []overdue

func (q overdueQueue) Len() int           { return len(q) }
func (q overdueQueue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q overdueQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *overdueQueue) Push(x any)        { *q = append(*q, x.(overdue)) }
func (q *overdueQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

const host = "a"

// id makes the ULID of the n-th run.
func id(n int) string {
	var u ulid.ULID
	_ = u.SetTime(uint64(n))
	return u.String()
}

// newRun is a light run with a slot of a minute, that must be over after two.
func newRun(n int, start time.Time) measure.Run {
	return measure.Run{ID: id(n), Test: "t", Tool: "rtt", Source: host, Target: "b", Start: start, LimitSeconds: 120, SlotSeconds: 60,
		Task: measure.Task{Kind: "ping", Target: "192.0.2.1"}}
}

func exclusive(r measure.Run) measure.Run { r.Exclusive = true; return r }

// memoryLink is a Link to a controller in memory, whose archive files what it gets unless it is away.
type memoryLink struct {
	mu       sync.Mutex
	handler  fleet.Handler
	ready    chan struct{}
	away     bool // Deliver fails
	deaf     bool // nothing is filed
	most     int  // bytes that a Result may have; 0: any
	order    []string
	results  map[string]*measure.Result
	copies   map[string]int // deliveries, by ID
	statuses []fleet.Status
	progress []fleet.Progress
}

func newLink() *memoryLink {
	return &memoryLink{ready: make(chan struct{}), results: map[string]*measure.Result{}, copies: map[string]int{}}
}

func (l *memoryLink) Serve(ctx context.Context, h fleet.Handler) error {
	l.mu.Lock()
	l.handler = h
	l.mu.Unlock()
	close(l.ready)
	<-ctx.Done()
	return nil
}

func (l *memoryLink) Deliver(ctx context.Context, results []*measure.Result) error {
	select { // an agent may deliver before it serves
	case <-l.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return errors.New("away")
	}
	for _, r := range results {
		if text, err := json.Marshal(r); err != nil || l.most > 0 && len(text) > l.most {
			return errors.Join(err, &fleet.TooLarge{ID: r.ID, Bytes: len(text)})
		}
	}
	var ids []string
	for _, r := range results {
		if l.copies[r.ID]++; l.copies[r.ID] == 1 {
			l.results[r.ID] = r
			l.order = append(l.order, r.ID)
		}
		ids = append(ids, r.ID)
	}
	if !l.deaf {
		return l.handler.Filed(ctx, ids)
	}
	return nil
}

func (l *memoryLink) Report(_ context.Context, s fleet.Status) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses = append(l.statuses, s)
	return nil
}

func (l *memoryLink) Live(_ context.Context, p fleet.Progress) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress = append(l.progress, p)
	return nil
}

func (l *memoryLink) set(change func(*memoryLink)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

// outcome returns why the n-th run failed, "ok" if it did not, and "" if there is no Result.
func (l *memoryLink) outcome(n int) string { return l.outcomeOf(id(n)) }

func (l *memoryLink) outcomeOf(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.results[id]
	switch {
	case r == nil:
		return ""
	case r.Error != nil:
		return *r.Error
	}
	return string(r.Status)
}

func (l *memoryLink) result(n int) *measure.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.results[id(n)]
}

// count is how many Results came, and came how often the n-th run's did.
func (l *memoryLink) count() int { l.mu.Lock(); defer l.mu.Unlock(); return len(l.results) }

func (l *memoryLink) came(n int) int { l.mu.Lock(); defer l.mu.Unlock(); return l.copies[id(n)] }

// ids are those of all Results, in order; outcomes what came of their runs.
func (l *memoryLink) ids() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.results))
}

func (l *memoryLink) outcomes() map[string]string {
	all := map[string]string{}
	for _, id := range l.ids() {
		all[id] = l.outcomeOf(id)
	}
	return all
}

// startedAt is the ID of a Result that began in that second, "" if there is none.
func (l *memoryLink) startedAt(second time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, r := range l.results {
		if r.Started.Truncate(time.Second).Equal(second) {
			return id
		}
	}
	return ""
}

func (l *memoryLink) shown() []fleet.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.progress)
}

func (l *memoryLink) lastStatus() fleet.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.statuses[len(l.statuses)-1]
}

// fakeProber takes so long, and then succeeds or fails as it is told.
type fakeProber struct {
	takes time.Duration
	fails int // the first tries

	mu    sync.Mutex
	began []time.Time
	most  int // at the same time
	now   int
}

func (f *fakeProber) new(task measure.Task, o probe.Options) (measure.Prober, error) {
	return doing(func(ctx context.Context) (*measure.Result, error) {
		f.mu.Lock()
		f.began = append(f.began, time.Now())
		try := len(f.began)
		f.now++
		f.most = max(f.most, f.now)
		f.mu.Unlock()
		defer func() { f.mu.Lock(); f.now--; f.mu.Unlock() }()
		r := measure.NewResult(task.Kind, time.Now())
		r.Target.Address = task.Target
		for second := 0; time.Duration(second)*time.Second < f.takes; second++ {
			if o.Echo != nil {
				for n := range 20 {
					o.Echo(measure.Echo{Seq: 20*second + n})
				}
			}
			select {
			case <-time.After(min(time.Second, f.takes-time.Duration(second)*time.Second)):
			case <-ctx.Done():
				r.Fail(ctx.Err())
				return r, ctx.Err()
			}
		}
		if try <= f.fails {
			err := fmt.Errorf("try %d went wrong", try)
			r.Fail(err)
			return r, err
		}
		r.Metrics[measure.RTTMin] = 0.01
		r.DurationSeconds = f.takes.Seconds()
		return r, nil
	}), nil
}

// times are those at which a try began, and atOnce how many were under way together.
func (f *fakeProber) times() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.began)
}

func (f *fakeProber) atOnce() int { f.mu.Lock(); defer f.mu.Unlock(); return f.most }

type doing func(context.Context) (*measure.Result, error)

func (d doing) Do(ctx context.Context) (*measure.Result, error) { return d(ctx) }

// running is an agent under test.
type running struct {
	*Agent
	t     *testing.T
	link  *memoryLink
	stop  func() // and wait
	ended chan error
}

// run runs an agent until the test ends or stop is called.
func run(t *testing.T, c Config) *running {
	t.Helper()
	link, ok := c.Link.(*memoryLink)
	if !ok {
		link = newLink()
		c.Link = link
	}
	c.Host = cmp.Or(c.Host, host)
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Agent: a, t: t, link: link, ended: make(chan error, 1)}
	go func() { r.ended <- a.Run(ctx) }()
	<-link.ready
	var once sync.Once
	r.stop = func() {
		once.Do(func() {
			began := time.Now()
			cancel()
			if err := <-r.ended; err != nil {
				t.Errorf("Run: %v", err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("the agent took %v to end", took)
			}
		})
	}
	t.Cleanup(r.stop)
	return r
}

// send gives the agent a plan.
func (r *running) send(number uint64, runs ...measure.Run) {
	r.t.Helper()
	if err := r.Plan(context.Background(), fleet.Plan{Host: host, Number: number, Runs: runs}); err != nil {
		r.t.Fatal(err)
	}
}

// image copies an agent's folder as it is, as if power had ended.
func image(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(filepath.Join(copied, "state"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(copied, "state")
}

// stepped is a wall clock that can be stepped.
type stepped struct {
	mu  sync.Mutex
	off time.Duration
}

func (s *stepped) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.off)
}

func (s *stepped) step(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off += by
}

// pass lets time go by in a bubble of synctest, and what is to happen then be done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

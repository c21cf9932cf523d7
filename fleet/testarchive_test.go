package fleet

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// testArchive is a Receiver that keeps all in memory, and fails as often as it is told.
type testArchive struct {
	mu      sync.Mutex
	changed chan struct{} // closed and made anew with each change
	fails   int
	calls   int
	results map[string]*measure.Result
	from    map[string]string // host, by ID
	twice   int
	status  map[string]Status
}

func newTestArchive() *testArchive {
	return &testArchive{changed: make(chan struct{}), results: map[string]*measure.Result{}, from: map[string]string{},
		status: map[string]Status{}}
}

func (a *testArchive) File(_ context.Context, host string, results []*measure.Result) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.notify()
	if a.calls++; a.calls <= a.fails {
		return fmt.Errorf("disk full (as the test wants it, time %d)", a.calls)
	}
	for _, r := range results {
		if a.results[r.ID] != nil {
			a.twice++
		}
		a.results[r.ID], a.from[r.ID] = r, host
	}
	return nil
}

func (a *testArchive) Heard(s Status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status[s.Host] = s
	a.notify()
}

func (a *testArchive) notify() {
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *testArchive) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.results)
}

// filed returns a Result and the host that it is filed of; nil if there is none.
func (a *testArchive) filed(id string) (*measure.Result, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.results[id], a.from[id]
}

func (a *testArchive) planOf(host string) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status[host].Plan
}

// until waits for a condition, which is asked with each change.
func (a *testArchive) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		a.mu.Lock()
		ok, changed := holds(), a.changed
		a.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}

// fileArchive writes each ID to a file and syncs it.
type fileArchive struct {
	mu sync.Mutex
	f  *os.File
}

func (a *fileArchive) File(_ context.Context, _ string, results []*measure.Result) error {
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintln(&b, r.ID)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := io.WriteString(a.f, b.String()); err != nil {
		return err
	}
	return a.f.Sync()
}

func (a *fileArchive) Heard(Status) {}

package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// receiver is the side of Control that the fleet calls.
type receiver struct{ *Control }

// File puts a host's Results into the archive. Those that cannot be filed, because they claim to be another host's or hold
// what no Result may, are logged and count as taken: they would come again for ever.
func (c receiver) File(ctx context.Context, host string, results []*measure.Result) error {
	own := make([]*measure.Result, 0, len(results))
	for _, r := range results {
		if of, known := c.awaited.source(r.ID); r.Source.Name != host || known && of != host {
			c.config.Log.Warn("result of another host refused", "from", host, "claims", r.Source.Name, "run of", of, "id", r.ID)
			continue
		}
		own = append(own, r)
	}
	filed, err := c.put(ctx, host, withPairs(c.Mesh(), own))
	for _, r := range filed {
		if run, first := c.awaited.came(r.ID); first {
			c.account(&run, r)
		}
		c.handOver(r)
		c.names.want(answeredBy(r))
		c.watchers.tell(Event{Result: r})
	}
	err = errors.Join(err, c.config.Observe(filed))
	c.mu.Lock()
	c.unfiled = err
	c.mu.Unlock()
	return err
}

// put files Results together, or, where one of them is invalid, each by itself.
func (c receiver) put(ctx context.Context, host string, results []*measure.Result) ([]*measure.Result, error) {
	err := c.config.Archive.Put(ctx, results)
	var invalid *archive.Invalid
	if err == nil {
		return results, nil
	} else if !errors.As(err, &invalid) {
		return nil, fmt.Errorf("file results of %s: %w", host, err)
	}
	var filed []*measure.Result
	for _, r := range results {
		err := c.config.Archive.Put(ctx, []*measure.Result{r})
		if errors.As(err, &invalid) {
			c.config.Log.Warn("result refused", "from", host, "id", r.ID, "why", err)
		} else if err != nil {
			return filed, fmt.Errorf("file results of %s: %w", host, err)
		} else {
			filed = append(filed, r)
		}
	}
	return filed, nil
}

// Heard takes a host's status. One that can do more or less than before is planned for anew soon, as is one that the hub could
// not take the plan for; that a host which was away gets the newest plan is the hub's part else.
func (c receiver) Heard(s fleet.Status) {
	back, other := c.roster.note(s, c.config.Now())
	if back {
		c.config.Log.Info("host is here", "host", s.Host, "version", s.Version)
		c.watchers.tell(Event{Host: s.Host, State: Here})
	}
	c.logAge(s, back || other)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resend = c.resend || c.unsent[s.Host]
	delete(c.unsent, s.Host) // once: what still cannot be sent is tried with the next plan
	c.other = c.other || other
}

// fileMisses tells the archive of the runs of which no Result came.
func (c *Control) fileMisses(ctx context.Context, now time.Time) error {
	runs := c.awaited.missed(now)
	if len(runs) == 0 {
		return nil
	}
	misses := make([]measure.Miss, len(runs))
	for i, r := range runs {
		misses[i] = measure.Miss{Run: r.ID, Test: r.Test, Tool: r.Tool, Source: r.Source, Target: r.Target, Start: r.Start,
			Way: measure.WayOf(r.Task.Kind, r.Task.Parameters), Why: c.roster.why(r.Source, r.Start, now)}
	}
	if err := c.config.Archive.PutMisses(ctx, misses); err != nil {
		c.awaited.expect(runs) // so that they are told of again
		return fmt.Errorf("file misses: %w", err)
	}
	for i := range misses {
		c.config.Missed(misses[i])
		c.watchers.tell(Event{Miss: &misses[i]})
	}
	return nil
}

// Event is something that happened in the mesh. One of its parts is set.
type Event struct {
	Result *measure.Result `json:"result,omitempty"` // was filed
	Miss   *measure.Miss   `json:"miss,omitempty"`   // was noted
	Host   string          `json:"host,omitempty"`   // came or went
	State  HostState       `json:"state,omitempty"`
	Plan   uint64          `json:"plan,omitempty"` // number of a new plan, sent to all hosts
}

// Kind names the part that is set.
func (e Event) Kind() string {
	switch {
	case e.Result != nil:
		return "result"
	case e.Miss != nil:
		return "miss"
	case e.Host != "":
		return "host"
	}
	return "plan"
}

// watchRoom is how many events a watcher may be behind. One that is further behind loses events: it must not hold up
// those who file.
const watchRoom = 1024

// watchers are told of events.
type watchers struct {
	mu  sync.Mutex
	all map[chan Event]bool
}

func newWatchers() *watchers { return &watchers{all: map[chan Event]bool{}} }

func (w *watchers) tell(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		select {
		case c <- e:
		default:
		}
	}
}

// Events returns a channel on which events come, and how to end that, after which the channel is closed.
func (c *Control) Events() (events <-chan Event, end func()) {
	ch := make(chan Event, watchRoom)
	c.watchers.mu.Lock()
	c.watchers.all[ch] = true
	c.watchers.mu.Unlock()
	return ch, func() {
		c.watchers.mu.Lock()
		defer c.watchers.mu.Unlock()
		if c.watchers.all[ch] {
			delete(c.watchers.all, ch)
			close(ch)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// simulatedRun is how long a ping of five echoes 200 ms apart takes.
	simulatedRun = 800 * time.Millisecond
	// deliverAfter is when a simulated agent delivers again what was not filed, as a real one does.
	deliverAfter = 30 * time.Second
	// comeTogether are how many agents connect at the same time: both ends' handshakes are on this machine's processors.
	comeTogether = 32
	// tryReport is how often an agent that is not connected yet, or has no plan yet, tries to report.
	tryReport = 200 * time.Millisecond
)

// simulation is agents that bench plays: each has credentials and a connection of its own and speaks the real protocol, but
// makes its Results up.
type simulation struct {
	cancel context.CancelFunc
	group  sync.WaitGroup
	failed atomic.Int64
	mu     sync.Mutex
	sent   map[string]time.Time // when a Result was first delivered
}

func (s *simulation) start(ctx context.Context, c *controller) error {
	s.sent = map[string]time.Time{}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	coming := make(chan struct{}, comeTogether)
	for n := range c.hosts {
		select {
		case coming <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		keys, err := fleet.ReadCredentials(credentialsFile(c.dir, n))
		if err != nil {
			return err
		}
		link, err := fleet.NewLink(fleet.LinkConfig{Credentials: keys, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		a := &simulated{of: s, host: keys.Host, link: link, changed: make(chan struct{}, 1), done: map[string]bool{}, kept: map[string]*kept{}}
		s.group.Go(func() {
			if err := link.Serve(own, a); err != nil {
				s.failed.Add(1)
			}
		})
		s.group.Go(func() { a.work(own, func() { <-coming }) })
	}
	return nil
}

func (s *simulation) usage() (u crowdUsage, err error) {
	u.failed = int(s.failed.Load())
	return u, u.add(os.Getpid())
}

func (s *simulation) stop() error {
	if s.cancel != nil {
		s.cancel()
	}
	s.group.Wait()
	return nil
}

// deliveredAt is when a simulated agent first delivered a Result.
func (s *simulation) deliveredAt(id string) (time.Time, bool) {
	if s == nil {
		return time.Time{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.sent[id]
	return at, known
}

// simulated is one agent. It knows nothing of disks, policies and packets.
type simulated struct {
	of   *simulation
	host string
	link *fleet.NATSLink

	changed chan struct{}
	mu      sync.Mutex
	number  uint64
	runs    []measure.Run // by start, those that are not done
	done    map[string]bool
	kept    map[string]*kept
}

// kept is a Result that is not filed yet.
type kept struct {
	result *measure.Result
	sent   time.Time
}

// Plan implements fleet.Handler.
func (a *simulated) Plan(_ context.Context, p fleet.Plan) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.Number <= a.number {
		return nil
	}
	a.number = p.Number
	a.runs = slices.DeleteFunc(p.Runs, func(r measure.Run) bool { return a.done[r.ID] })
	slices.SortFunc(a.runs, func(x, y measure.Run) int { return x.Start.Compare(y.Start) })
	select {
	case a.changed <- struct{}{}:
	default:
	}
	return nil
}

// Order implements fleet.Handler.
func (a *simulated) Order(context.Context, fleet.Order) error { return fmt.Errorf("a simulated agent") }

// Filed implements fleet.Handler.
func (a *simulated) Filed(_ context.Context, ids []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		delete(a.kept, id)
	}
	return nil
}

// work does the plan, and reports, until ctx ends. It calls came at its first report.
func (a *simulated) work(ctx context.Context, came func()) {
	report := time.NewTimer(0)
	defer report.Stop()
	var once sync.Once
	for {
		due, wait := a.due()
		if len(due) > 0 && a.link.Deliver(ctx, due) != nil && ctx.Err() == nil {
			a.of.failed.Add(1)
		}
		select {
		case <-time.After(wait):
		case <-a.changed: // there is a new plan, of which the controller is told
			report.Reset(0)
		case <-report.C:
			if s := a.status(); s.Plan == 0 || a.link.Report(ctx, s) != nil {
				report.Reset(tryReport)
				continue
			}
			once.Do(came)
			report.Reset(fleet.StatusEvery)
		case <-ctx.Done():
			return
		}
	}
}

// due takes the runs that are over from the plan and returns their Results, with those that were not filed for long; and
// when there will be more.
func (a *simulated) due() (due []*measure.Result, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for len(a.runs) > 0 && !a.runs[0].Start.Add(simulatedRun).After(now) {
		r := madeUp(&a.runs[0])
		a.runs = a.runs[1:]
		a.done[r.ID], a.kept[r.ID] = true, &kept{r, now}
		due = append(due, r)
		a.of.noteSent(r.ID, now)
	}
	for _, k := range a.kept {
		if now.Sub(k.sent) > deliverAfter {
			k.sent = now
			due = append(due, k.result)
		}
	}
	wait = deliverAfter
	if len(a.runs) > 0 {
		wait = min(wait, a.runs[0].Start.Add(simulatedRun).Sub(now))
	}
	return due, wait
}

func (s *simulation) noteSent(id string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[id] = at
}

func (a *simulated) status() fleet.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fleet.Status{Host: a.host, At: time.Now(), Version: "simulated", Platform: "none", Plan: a.number, Spooled: len(a.kept)}
}

// madeUp is the Result that a run could have had.
func madeUp(run *measure.Run) *measure.Result {
	r := measure.NewResult(run.Task.Kind, run.Start)
	r.ID, r.Test, r.Tool, r.DurationSeconds = run.ID, run.Test, run.Tool, simulatedRun.Seconds()
	r.Source.Name, r.Target = run.Source, measure.Endpoint{Name: run.Target, Address: run.Task.Target}
	r.Parameters = run.Task.Parameters
	rtt := 0.01 * (1 + rand.ExpFloat64())
	r.Metrics = map[measure.Metric]float64{
		measure.SentPackets: 5, measure.ReceivedPackets: 5, measure.LostPackets: 0, measure.LossRatio: 0, measure.DuplicatePackets: 0,
		measure.RTTMin: rtt, measure.RTTMean: 1.2 * rtt, measure.RTTMedian: 1.1 * rtt, measure.RTTP95: 1.7 * rtt,
		measure.RTTP99: 1.9 * rtt, measure.RTTMax: 2 * rtt, measure.RTTStddev: 0.3 * rtt,
	}
	for n := range 5 {
		sent := 0.2 * float64(n)
		back := rtt * (1 + rand.Float64())
		r.Samples.Echoes = append(r.Samples.Echoes, measure.Echo{Seq: n, SentSeconds: sent, RTTSeconds: &back})
	}
	return r
}

// Package agent is a host of a mesh: it does what the controller tells it, within what its owner allows.
//
// It holds the plan and begins each run at its time, whether the controller is there or not; opens what other hosts' runs
// need, for as long as they need it; keeps every Result until the archive has it; and says what it cannot do. It plans
// nothing, knows no other host, and decides nothing but by its owner's policy (agent/policy). Measuring is done by package
// probe, keeping by agent/spool, carrying by package fleet.
//
// A run of the plan, and how it ends in exactly one Result with the run's ID:
//
//	planned --two seconds before its start--> noted on disk --start--> waiting for room --> running --> Result
//	   |                                          |                        |                  |
//	   | found after its slot                     | found after a restart  | slot over        | limit, cancelled, agent stopped:
//	   v                                          v                        v                  v partial, or failed
//	failed: missed                     failed: stopped while it ran     failed: no room     Result
//
// A plan that comes to its end before a newer one comes is repeated, moved by its length, again and again. Which repetition it
// is, and the IDs and secrets in it, follow from the plan and the time alone, so that hosts which cannot speak to each other
// still agree (series.go). What was carried over into the plan from another one is not repeated.
//
// Four goroutines share the work, all owned by Run: keep puts on disk what happened and notes what is due, once a second, in
// one write for all; start begins what is noted when its time comes; deliver hands Results over until they are filed; report
// sends the status. Each run under way and each opening has one more.
//
// Starts are by the wall clock, since several hosts must agree on them; how long something may take is by a clock that
// nobody steps. So a clock that jumps makes runs missed, or late, but neither brings them all at once nor repeats them.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/agent/sandbox"
	"github.com/pathwise-net/pathwise/agent/spool"
	"github.com/pathwise-net/pathwise/durable/daily"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// Config says who an agent is. Host, Dir and Link are required.
type Config struct {
	Host    string         // its name in the mesh
	Dir     string         // where it keeps its plan and its Results; made if it is not there, for its owner only
	Link    fleet.Link     // to the controller
	Policy  *policy.Policy // nil: policy.Default()
	Listen  string         // address that tests may come to; "": all of this host's
	Version string         // for the status
	Secrets []string       // files and folders besides Dir that no external program may open, such as that of its credentials
	Alone   bool           // this process is the agent and nothing else: it is bounded, as a whole, by the policy

	Prober func(measure.Task, probe.Options) (measure.Prober, error) // nil: probe.New
	Now    func() time.Time                                          // the wall clock; nil: time.Now
	Log    *slog.Logger                                              // nil: silent
}

// Validate says what is missing.
func (c *Config) Validate() error {
	switch {
	case c.Host == "":
		return errors.New("agent: no host name; it is in the credentials that mesh deploy makes")
	case c.Dir == "":
		return errors.New("agent: no folder to keep its plan and Results in")
	case c.Link == nil:
		return errors.New("agent: no link to a controller")
	}
	return nil
}

const (
	// maxLimit bounds how long a run may take: a day of pings is a run, too.
	maxLimit = 24 * time.Hour
	// tick is how often what happened is put on disk, and how often a clock that was stepped is noticed.
	tick = time.Second
	// claimAhead is how long before its start a run is noted on disk: two ticks, of which the disk may take one.
	claimAhead = 2 * tick
	// endWithin is how long runs may take to end when the agent does.
	endWithin = 5 * time.Second
)

// Agent is the fleet.Handler of one host. Make it with New, and call Run once.
type Agent struct {
	config     Config
	policy     *policy.Policy
	bounds     policy.Limits
	log        *slog.Logger
	lock       *os.File
	spool      *spool.Spool
	dailyBytes *daily.Count     // of tests, by class, of days of this host's local time
	shelter    *sandbox.Sandbox // of external programs
	exposed    error            // why there is none
	can        *fleet.Abilities // never changes
	group      sync.WaitGroup   // of runs and openings

	starter, courier, contact, keeper, reporter bell

	mu             sync.Mutex
	plan           fleet.Plan // without runs and opens
	agenda         agenda
	round          int             // of the plan, that people were told of
	orders         []*job          // to begin, besides the plan
	noting         []*job          // claimed, not on disk yet
	ready          []*job          // on disk, by start
	running        map[string]*job // by run ID
	filling        map[string]int  // runs that fill a link, by class
	light          int             // runs under way that do not
	heavy          int             // tests under way that do, with those of other hosts
	processors     int             // that this process may work on; 0: it is not alone
	planReceivedAt time.Time       // when a plan came, whose memory is not given back yet
	lastLate       time.Time
	responders     map[string]*openResponder
	missing        []fleet.MissingCapability
	ctx            context.Context // of runs and openings; nil before Run
}

// New reads what the folder holds: the plan, and the Results that are not filed. What is spoilt there is set aside with a
// warning. Runs that had begun when the agent was killed have their Result now.
func New(c Config) (_ *Agent, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	a := &Agent{config: c, policy: c.Policy, log: c.Log, can: abilities(), running: map[string]*job{}, filling: map[string]int{},
		responders: map[string]*openResponder{}, starter: newBell(), courier: newBell(), contact: newBell(),
		keeper: newBell(), reporter: newBell()}
	if a.policy == nil {
		a.policy = policy.Default()
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.config.Prober == nil {
		a.config.Prober = probe.New
	}
	if a.config.Now == nil {
		a.config.Now = time.Now
	}
	a.bounds = a.policy.Bounds()
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if a.lock, err = lockDir(c.Dir); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if a.shelter, a.exposed = sandbox.New(string(a.bounds.Program.User), append([]string{c.Dir}, c.Secrets...)...); a.exposed != nil &&
		len(a.policy.AllPrograms()) > 0 {
		a.log.Warn("no external program will run", "error", a.exposed)
	}
	if err := a.load(); err != nil {
		if a.spool != nil {
			a.spool.Close()
		}
		unlockDir(a.lock)
		return nil, fmt.Errorf("agent: %w", err)
	}
	if c.Alone {
		a.settle()
	}
	return a, nil
}

// Run serves the controller and follows the plan until ctx ends, and then returns nil once nothing is left running. It
// returns before if the link gives up for good. Without a connection it goes on with its plan.
func (a *Agent) Run(outer context.Context) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(outer))
	defer context.AfterFunc(outer, func() { cancel(errStopped) })()
	a.mu.Lock()
	a.ctx = ctx
	a.mu.Unlock()
	var own sync.WaitGroup
	for _, work := range []func(context.Context){a.keep, a.start, a.deliver, a.report} {
		own.Go(func() { work(ctx) })
	}
	err := a.config.Link.Serve(ctx, a)
	if ctx.Err() != nil {
		err = nil
	} else if err == nil {
		err = errors.New("it ended")
	}
	if err != nil {
		err = fmt.Errorf("serve the controller: %w", err)
	}
	cancel(errStopped)
	own.Wait()
	return errors.Join(err, a.end())
}

// end waits for what is under way and closes the files. What was to begin next will not.
func (a *Agent) end() error {
	a.mu.Lock()
	for _, list := range [][]*job{a.orders, a.noting, a.ready} {
		for _, j := range list {
			a.finish(j, failed(&j.run, errStopped))
		}
	}
	a.mu.Unlock()
	ended := make(chan struct{})
	go func() { a.group.Wait(); close(ended) }()
	var err error
	select {
	case <-ended:
	case <-time.After(endWithin):
		err = fmt.Errorf("runs did not end: %v", a.status().Running)
	}
	err = errors.Join(err, a.dailyBytes.Save(), a.spool.Close())
	return errors.Join(err, unlockDir(a.lock))
}

// now is the wall clock alone: starts are compared with what other hosts' clocks say.
func (a *Agent) now() time.Time { return a.config.Now().Round(0) }

// bell wakes a goroutine; several rings before it wakes are one.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// wait returns after a ring or a time, and reports whether ctx still goes on.
func (b bell) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-b:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

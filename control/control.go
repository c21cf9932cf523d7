// Package control is the loop of a mesh: it plans, sends, gathers and files.
//
// It decides nothing that another package decides better: what the mesh file says is config's, when things run is
// schedule's, how hosts are reached is fleet's, what is kept is archive's. It holds them together: a plan for every host
// whenever the last one is half over, the mesh file changed or somebody asked; every Result to the archive; a miss for
// each run of which nothing came; and runs on demand, fitted in between, of which diagnoses are made: also, within limits, of what got
// worse and nobody has asked about yet.
//
//	mesh file -> config.Mesh -> schedule -> measure.Run -> awaitedRuns (what must come back)
//	                                            |
//	             plan.json <- fleet.Plan a host <-   on disk before it is sent, so that a restart knows it
//
// It listens on nothing and prints nothing: packages web and cmd/pathwise do.
package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// Config is what a Control works with.
type Config struct {
	Mesh    string // the mesh file, or a folder of them
	Data    string // a folder for plan.json; it must be there
	Hub     fleet.Hub
	Archive archive.Archive

	// Changed is called whenever a mesh is in force, the first and each that replaces it, before its first plan: to let
	// new hosts in and to start agents over SSH. An error keeps the mesh from replacing the last.
	Changed func(*config.Mesh) error
	// Observe is called with Results when they are filed, before that is acknowledged; after an error they come again. nil:
	// nobody is told.
	Observe func([]*measure.Result) error
	// Missed is called for each run of which no Result came; nil: nobody is told.
	Missed func(measure.Miss)

	// Judge says what is wrong in the mesh now, for diagnoses that nobody asked for; nil: there are none.
	Judge func(context.Context) (*Worse, error)

	// NameOf is what a router is called that has an address, "" if it has no name: as reverse lookup tells it. It is called from several
	// goroutines. nil: only hosts of the mesh have names.
	NameOf func(ctx context.Context, address string) string

	Seed uint64           // of a mesh's first plan; 0: drawn
	Now  func() time.Time // nil: time.Now
	Log  *slog.Logger     // nil: none
}

// Validate fills in defaults, and says what is missing.
func (c *Config) Validate() error {
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Changed == nil {
		c.Changed = func(*config.Mesh) error { return nil }
	}
	if c.Observe == nil {
		c.Observe = func([]*measure.Result) error { return nil }
	}
	if c.Missed == nil {
		c.Missed = func(measure.Miss) {}
	}
	if c.Mesh == "" || c.Data == "" || c.Hub == nil || c.Archive == nil {
		return errors.New("control: Mesh, Data, Hub and Archive are needed")
	}
	return nil
}

// Control runs one mesh.
type Control struct {
	config   Config
	awaited  *awaitedRuns
	roster   *roster
	watchers *watchers
	callers  *callerUsage
	spending *spending
	unasked  unfiledDiagnoses
	names    *names
	stirred  chan struct{} // has an element when there is to be a new plan at once

	planning sync.Mutex // of what follows; whoever takes both takes it before mu
	planner  *planner   // nil: none yet
	ports    *switchboard

	mu        sync.Mutex // of what follows
	mesh      *config.Mesh
	source    source // the text that mesh was read from
	current   plan
	other     bool              // some host can do more or less than when the plan in force was made
	rates     *Rates            // what tools carried lately
	keptRates *Rates            // those of them that are on disk
	ratesDue  time.Time         // when they are looked up again
	unsent    map[string]bool   // hosts that the plan in force could not be left for
	resend    bool              // one of those is here now
	demands   map[string]demand // tests that somebody asked for and that are not over, by ID of the run
	warnings  []string          // of the plan: sorted, never changed, only replaced
	unfiled   error             // why Results cannot be filed now; nil: they can
	trouble   error             // why the mesh file as it is now is not in force; nil: it is
}

// New reads the mesh file and the last plan, and does nothing yet.
func New(c Config) (*Control, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	control := &Control{
		config: c, awaited: newAwaitedRuns(), roster: newRoster(), watchers: newWatchers(),
		callers: openCallerUsage(c.Data, c.Log), spending: openSpending(c.Data, c.Log),
		names: newNames(c.NameOf, c.Now), stirred: make(chan struct{}, 1), ports: newSwitchboard(), demands: map[string]demand{},
	}
	if err := control.read(); err != nil {
		return nil, err
	}
	last, err := readPlan(c.Data)
	if err != nil { // which costs no more than that runs under way are not known
		c.Log.Warn("the last plan is not known; a new one is made", "error", err)
	}
	control.current = last
	if control.rates, err = ReadRates(c.Data); err != nil { // they are looked up anew
		c.Log.Warn("what tools carried lately is not known", "error", err)
	}
	control.keptRates = control.rates
	if err := control.names.read(c.Data); err != nil {
		c.Log.Warn("names of routers are not known", "error", err)
	}
	control.awaited.expect(last.Runs)
	for i := range last.Runs {
		control.ports.keep(&last.Runs[i])
	}
	return control, nil
}

const (
	// checkEvery is how often the loop looks whether the mesh file changed, and for runs that are overdue.
	checkEvery = 2 * time.Second
	// pruneEvery is how often the archive forgets what its rules no longer keep.
	pruneEvery = time.Hour
)

// Run keeps the mesh going until ctx ends. It returns before only if the fleet cannot be served at all.
func (c *Control) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- c.config.Hub.Serve(ctx, receiver{c}) }()
	pruned := make(chan struct{})
	go func() { defer close(pruned); c.prune(ctx) }()
	diagnosed := make(chan struct{})
	go func() { defer close(diagnosed); c.diagnoseUnasked(ctx) }()
	named := make(chan struct{})
	go func() { defer close(named); c.nameRouters(ctx) }()
	c.loop(ctx, served)
	cancel()
	<-pruned
	<-diagnosed
	<-named
	if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("serve fleet: %w", err)
	}
	return nil
}

// loop plans when that is due, until ctx ends or the fleet is no longer served; it puts back what served told.
func (c *Control) loop(ctx context.Context, served chan error) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	c.attempt("look up rates", c.refreshRates(ctx))
	c.wake()
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-served:
			served <- err
			return
		case <-c.stirred:
			c.attempt("plan", c.replan(ctx))
		case <-tick.C:
			c.attempt("read mesh file", c.reread())
			c.attempt("file misses", c.fileMisses(ctx, c.config.Now()))
			c.attempt("look up rates", c.refreshRates(ctx))
			c.attempt("count bytes", c.spending.Save())
			if c.planDue() {
				c.attempt("plan", c.replan(ctx))
			}
		}
	}
}

// attempt logs what a part of the loop could not do: the next turn tries again.
func (c *Control) attempt(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		c.config.Log.Error(what, "error", err)
	}
}

// wake asks for a new plan.
func (c *Control) wake() {
	select {
	case c.stirred <- struct{}{}:
	default: // there will be one
	}
}

// prune lets the archive forget, now and every so often.
func (c *Control) prune(ctx context.Context) {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		if _, err := c.config.Archive.Prune(ctx, c.config.Now()); err != nil {
			c.attempt("prune archive", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

package control

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/durable/daily"
	"github.com/pathwise-net/pathwise/measure"
)

// Caller is who asks for a test over the network. What is allowed is for the mesh file to say: controller.callers.
type Caller = config.Caller

// Denial is why a Caller may not have a test.
type Denial = config.Denial

// callerUsage counts what callers' tests take, by class. The day's bytes, of days in UTC, are kept on disk; tests under way are not,
// for they end with the controller.
type callerUsage struct {
	bytes *daily.Count

	mu    sync.Mutex // of tests, and from the look at what is left until it is taken
	tests map[string]int
}

// callersFile is the name of the day's bytes in the controller's folder, and callersBytes the one kind in it.
const (
	callersFile  = "callers.json"
	callersBytes = "bytes"
)

// openCallerUsage goes on with what is on disk, as openCount does.
func openCallerUsage(folder string, log *slog.Logger) *callerUsage {
	return &callerUsage{bytes: openCount(filepath.Join(folder, callersFile), log, callersBytes), tests: map[string]int{}}
}

// admission is a test that was let in. The owner's has no class: it counts for the hosts and sites that it uses only.
type admission struct {
	class    string
	chain    []string
	day      string
	reckoned float64 // bytes that it counts for while it goes on
	took     float64 // bytes of payload that it counts for with its class when it is over

	task   measure.Task
	spent  *expense
	onWire float64 // bytes that it counts for with hosts and sites when it is over
}

// enter lets a test in, if the limits of its caller's class let it.
func (d *callerUsage) enter(m *config.Mesh, class string, a config.Ask) (*admission, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	day := d.bytes.Day(a.At.UTC())
	used := func(class string) config.Use {
		return config.Use{Bytes: d.bytes.Of(callersBytes, class), Tests: d.tests[class]}
	}
	if denial := m.Denies(class, a, used); denial != nil {
		return nil, denial
	}
	t := &admission{class: class, chain: m.Controller.Callers.Chain(class), day: day, reckoned: a.Bytes}
	return t, d.count(t, 1, a.Bytes)
}

// leave ends a test, and counts what it took in place of what was reckoned.
func (d *callerUsage) leave(t *admission) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count(t, -1, t.took-t.reckoned)
}

// count adds to all classes of an admission, and keeps the bytes. d.mu is held.
func (d *callerUsage) count(t *admission, tests int, bytes float64) error {
	for _, class := range t.chain {
		d.tests[class] += tests
	}
	d.bytes.Add(t.day, callersBytes, t.chain, bytes)
	return d.bytes.Save()
}

// began notes that packets may flow from now on.
func (t *admission) began() {
	t.took, t.onWire = t.reckoned, t.reckoned
}

// refused notes that no packet did.
func (t *admission) refused() {
	t.took, t.onWire = 0, 0
}

// over notes what a test moved, if its Result says so.
func (t *admission) over(r *measure.Result) {
	if bytes, known := r.Moved(); known {
		t.took, t.onWire = bytes, config.OnWire(t.task.Parameters, bytes)
	}
}

// admit lets a Request in: its caller's class must allow what it comes to. The owner has none.
func (c *Control) admit(r *Request, d *demand) (*admission, error) {
	if r.Caller == nil {
		return &admission{reckoned: d.need.Bytes}, nil
	}
	m := d.mesh
	class, err := classOf(m, r.Caller)
	if err != nil {
		return nil, err
	}
	t, err := c.callers.enter(m, class, config.Ask{
		Tool: d.tool.Name, Kind: d.tool.Kind, Source: d.leg.Source, Target: d.leg.Target, At: c.config.Now(),
		Need: d.says, Bytes: d.need.Bytes,
	})
	var denial *Denial
	if errors.As(err, &denial) {
		return nil, err
	}
	c.attempt("count a caller's bytes", err) // a full disk keeps nobody from measuring
	return t, nil
}

// leave gives an admission back, and counts what its test took.
func (c *Control) leave(t *admission) error {
	if t == nil {
		return nil
	}
	c.spending.settle(t.spent, t.onWire)
	return errors.Join(c.callers.leave(t), c.spending.Save())
}

// classOf is the class of a caller, or a Denial.
func classOf(m *config.Mesh, who *Caller) (string, error) {
	callers := &m.Controller.Callers
	if len(callers.Classes) == 0 {
		return "", &Denial{Limit: "controller.callers", Value: "", Want: "classes in the mesh file; " +
			"without them only who owns the controller's folder may start tests"}
	}
	class := callers.ClassOf(who)
	if class == "" {
		return "", &Denial{Limit: "caller", Value: fmt.Sprintf("%s from %v", who.Name(), who.Address),
			Want: "one to whom controller.callers of the mesh file gives a class"}
	}
	return class, nil
}

// tell logs what became of a caller's Request, one line each.
func (c *Control) tell(r *Request, t *admission, run *measure.Run, err error) {
	if r.Caller == nil {
		return
	}
	log := c.config.Log.With("caller", r.Caller.Name(), "from", r.Caller.Address, "tool", r.Tool, "source", r.Source, "target", r.Target)
	if err != nil {
		log.Warn("test denied", "why", err)
		return
	}
	log.Info("test accepted", "class", t.class, "run", run.ID)
}

package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// DiagnosisRequest asks why the path between two hosts is slow.
type DiagnosisRequest struct {
	Source, Target string        // names of hosts
	Patience       time.Duration // how long its steps may wait for their turns, all together; 0: DiagnosisPatience
	Family         string        // ipv4 or ipv6, of all steps; "": of the hosts' addresses, as Test chooses
	Caller         *Caller       // as of Request
	Segments       bool          // also measure parts of the path, between hosts along it, and say which one is to blame
	Points         []string      // of Segments, names of these hosts; none: those that traces show on the route

	Show func(DiagnosisLine) // called for what happens, one thing at a time; nil: nobody looks on

	trouble string           // what it is made of where nobody asked for it; "": somebody did
	common  *diagnose.Common // of trouble; nil: it is of one pair
}

// DiagnosisLine is one thing that happens in a diagnosis: its plan, the first one and again when a step is added; what a
// step does; and at last what was found.
type DiagnosisLine struct {
	Plan []diagnose.Step `json:"plan,omitempty"`

	Step     string          `json:"step,omitempty"`
	State    StepState       `json:"state,omitempty"`
	Run      string          `json:"run,omitempty"` // ID
	Begins   *time.Time      `json:"begins,omitempty"`
	Progress *fleet.Progress `json:"progress,omitempty"` // a Result in it has no samples

	Diagnosis *diagnose.Diagnosis `json:"diagnosis,omitempty"` // Results in it have no samples
	ID        string              `json:"id,omitempty"`        // of the Result that the diagnosis is filed as

	Error string `json:"error,omitempty"` // of a step, or, without one, of all
}

// StepState is what a step of a diagnosis does.
type StepState string

const (
	StepWaiting StepState = "waiting" // until Begins
	StepRunning StepState = "running"
	StepDone    StepState = "done"   // if only in part, Error says why
	StepFailed  StepState = "failed" // measured nothing
)

const (
	// DiagnosisPatience is how long somebody who looks on will wait for the turns of all steps, where nothing else is said.
	DiagnosisPatience = 2 * time.Minute
	// transferTakes is how long each transfer of a diagnosis lasts: long enough that 3 s of it are steady, and so short that all
	// is over within a minute even where both directions need the longest paced probe.
	transferTakes = 6 * time.Second
	// responderRests is how long a responder, which has one port for all, may take to be ready after a test.
	responderRests = time.Second
)

// errNoThroughput says that a transfer's Result does not tell how fast it was.
var errNoThroughput = errors.New("what came of it tells no throughput")

// Diagnose measures between two hosts of the mesh what a diagnosis needs, one test after the other but for light ones of a round, each as by Test, files
// each Result as usual, and says what they mean. A step that cannot be made is shown as failed, with its reason; only if no
// transfer was measured is that an error. The diagnosis is filed, too, as a Result of kind "diagnosis" whose samples are its
// findings. Ended by ctx, the running step is called back, and no diagnosis is filed. Errors before anything is shown:
// bad input, *Denial, ErrNotReady.
func (c *Control) Diagnose(ctx context.Context, r DiagnosisRequest) (*diagnose.Diagnosis, error) {
	agent, err := c.checkDiagnosis(&r)
	if err != nil {
		return nil, err
	}
	d := c.newDiagnosis(r)
	if !agent {
		d.rests = responderRests
	}
	executor := diagnose.Executor{Make: d.do, AtOnce: d.round, Beside: d.beside, Far: agent, Planned: func(plan []diagnose.Step) { d.plan = nil; d.grow(plan...) }}
	results, _, err := executor.Execute(ctx, d.steps())
	if err != nil {
		return nil, err
	}
	if !diagnose.Measured(results) {
		return nil, fmt.Errorf("no transfer was measured: %w", cmp.Or(d.why, errNoThroughput))
	}
	found := diagnose.DiagnoseKnowing(results, d.known(ctx))
	if r.Segments {
		if err := d.segments(ctx, found); ctx.Err() != nil {
			return nil, err
		} else if err != nil { // what was measured of the whole path stands
			found.Notes = append(found.Notes, "the path is not divided into segments: "+err.Error())
		}
	}
	id := d.file(ctx, found)
	if without := d.without(); without != "" { // of what was filed that is the error
		found.Notes = append(found.Notes, without)
	}
	d.show(DiagnosisLine{Diagnosis: withoutSamples(found), ID: id})
	return found, nil
}

// newDiagnosis is one that begins now.
func (c *Control) newDiagnosis(r DiagnosisRequest) *diagnosis {
	now := c.config.Now()
	return &diagnosis{Control: c, request: r, id: newID(now), began: now, left: r.Patience, showing: &sync.Mutex{}}
}

// steps are those of the plan, with transactions where the target answers them.
func (d *diagnosis) steps() []diagnose.Step {
	plan := diagnose.EndEarly(diagnose.Plan(transferTakes, measure.Forward, measure.Reverse))
	if m := d.Mesh(); m != nil {
		at, known := m.Host(d.request.Target)
		if known && m.Hosts[at].Reach == config.ReachResponder && m.Hosts[at].Ports.Fixed[measure.ResponderTransact] == 0 {
			return plan
		}
	}
	return diagnose.WithTransactions(plan, diagnose.Program{})
}

// checkDiagnosis fills in defaults, says what cannot be whatever the steps are, and whether the target runs an agent.
func (c *Control) checkDiagnosis(r *DiagnosisRequest) (agent bool, err error) {
	if r.Caller != nil {
		if _, err := classOf(c.Mesh(), r.Caller); err != nil {
			return false, err
		}
	}
	r.Patience = cmp.Or(r.Patience, DiagnosisPatience)
	if r.Show == nil {
		r.Show = func(DiagnosisLine) {}
	}
	m, err := c.planned()
	if err != nil {
		return false, err
	}
	source, err := hostOf(m, "source", r.Source)
	if err != nil {
		return false, err
	}
	target, err := hostOf(m, "target", r.Target)
	switch {
	case err != nil:
		return false, err
	case source == target:
		return false, badRequest("target", r.Target, "another host than the source")
	case m.Hosts[source].Reach == config.ReachResponder:
		return false, badRequest("source", r.Source, "a host that runs an agent; this one only answers")
	}
	return m.Hosts[target].Reach != config.ReachResponder, checkPoints(m, r)
}

// diagnosis is one that is under way.
type diagnosis struct {
	*Control
	request DiagnosisRequest
	id      string // of the Result that it is filed as
	rests   time.Duration
	began   time.Time
	plan    []diagnose.Step
	left    time.Duration // of the patience
	failed  []string      // steps, and those that were left out for agents of earlier builds, with why
	why     error         // of the first transfer of which not all was measured; nil: of all was

	showing *sync.Mutex // whoever looks on is told one thing at a time
}

func (d *diagnosis) show(l DiagnosisLine) {
	d.showing.Lock()
	defer d.showing.Unlock()
	d.request.Show(l)
}

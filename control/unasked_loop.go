package control

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// unaskedEvery is how often is looked for what got worse, and unaskedRest how many times as long as a look took is waited until the
	// next: of a large mesh a look takes seconds, of which the archive is to have little.
	unaskedEvery = 5 * time.Second
	unaskedRest  = 50
	// unaskedPatience is how long the steps of a diagnosis that nobody waits for may wait for their turns, all together.
	unaskedPatience = 10 * time.Minute
	// mostMade is how many diagnoses of the last day are looked at, the newest: more than one a host of the largest mesh.
	mostMade = 500
)

// parameterTrouble is the parameter of a diagnosis' Result that says what it was made of where nobody asked for it.
const parameterTrouble = "trouble"

// Unasked is what a diagnosis was made of that nobody asked for, such as "host lyon"; "": somebody asked for it.
func Unasked(r *measure.Result) string {
	name, _ := r.Parameters[parameterTrouble].(string)
	return name
}

// unfiledDiagnoses are those of nobody's asking that are not in the archive: under way, or come to nothing, which a restart forgets.
type unfiledDiagnoses struct {
	mu   sync.Mutex
	made []made
}

// unaskedDiagnoses makes those that are due.
type unaskedDiagnoses struct {
	*Control
	diagnose func(context.Context, DiagnosisRequest) (*diagnose.Diagnosis, error) // makes one
	work     sync.WaitGroup
}

// diagnoseUnasked has what got worse diagnosed, without anybody's asking, until ctx ends. The first look is made at once whatever the mesh
// file says: it reads the past, which whoever opens the first page would else wait for.
func (c *Control) diagnoseUnasked(ctx context.Context) {
	if c.config.Judge == nil {
		return
	}
	u := &unaskedDiagnoses{Control: c, diagnose: c.Diagnose}
	defer u.work.Wait()
	for first := true; ctx.Err() == nil; first = false {
		began := time.Now()
		c.attempt("look for what got worse", u.look(ctx, first))
		rest := unaskedRest * time.Since(began)
		if first { // which read all of the past, as no other will
			rest = 0
		}
		if wait(ctx, max(unaskedEvery, rest)) != nil {
			return
		}
	}
}

// look begins the diagnoses that are due.
func (u *unaskedDiagnoses) look(ctx context.Context, first bool) error {
	now, hourly := u.config.Now(), u.Mesh().Controller.HourlyDiagnoses
	before, err := u.before(ctx, now)
	if err != nil {
		return err
	}
	if !first && !mayBegin(before, hourly, now) {
		return nil
	}
	worse, err := u.config.Judge(ctx)
	if err != nil {
		return fmt.Errorf("judge pairs: %w", err)
	}
	for mayBegin(before, hourly, now) {
		next := nextUnasked(worse, before, now, u.fit)
		if next == nil {
			return nil
		}
		one := made{next.source, next.target, now, next.trouble, madeUnderWay}
		before = append(before, one)
		u.Control.unasked.begin(one)
		u.work.Go(func() { u.make(ctx, one, next.common) })
	}
	return nil
}

// before are the diagnoses of the last day, whoever asked for them: those that are filed, of which a restart repeats none, and others.
func (c *Control) before(ctx context.Context, now time.Time) ([]made, error) {
	before := c.unasked.lately(now)
	page, err := c.config.Archive.Results(ctx, archive.ResultQuery{Kind: KindDiagnosis, From: now.Add(-DiagnosedWithin), Limit: mostMade})
	if err != nil {
		return nil, fmt.Errorf("read diagnoses: %w", err)
	}
	for _, r := range page.Results {
		before = append(before, made{r.Source.Name, r.Target.Name, r.Started, Unasked(r), madeFiled})
	}
	return before, nil
}

// fit says whether a diagnosis can be made between two hosts now: both are there, and nobody has them measured on demand.
func (u *unaskedDiagnoses) fit(source, target string) bool {
	agent, err := u.checkDiagnosis(&DiagnosisRequest{Source: source, Target: target})
	now := u.config.Now()
	if err != nil || !u.roster.here(source, now) || agent && !u.roster.here(target, now) {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, d := range u.demands {
		for _, host := range []int{d.leg.Source, d.leg.Target} {
			if name := d.mesh.Hosts[host].Name; name == source || name == target {
				return false
			}
		}
	}
	return true
}

// make makes a diagnosis. What is filed the archive knows from then on.
func (u *unaskedDiagnoses) make(ctx context.Context, one made, common *diagnose.Common) {
	log := u.config.Log.With("of", one.trouble, "source", one.source, "target", one.target)
	log.Info("diagnosis of what got worse begins")
	request := DiagnosisRequest{Source: one.source, Target: one.target, Patience: unaskedPatience, trouble: one.trouble, common: common}
	filed := false
	request.Show = func(l DiagnosisLine) { filed = filed || l.Diagnosis != nil && l.ID != "" }
	found, err := u.diagnose(ctx, request)
	switch {
	case err != nil:
		log.Warn("diagnosis of what got worse came to nothing", "error", err)
	default:
		log.Info("diagnosis of what got worse is over", "verdict", found.Verdict)
	}
	u.Control.unasked.end(one, filed)
}

func (u *unfiledDiagnoses) begin(one made) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.made = append(u.made, one)
}

// end notes that one is over. The archive knows it where it was filed.
func (u *unfiledDiagnoses) end(one made, filed bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := slices.Index(u.made, one)
	if u.made[at].state = madeFailed; filed {
		u.made = slices.Delete(u.made, at, at+1)
	}
}

// lately are those of the last day.
func (u *unfiledDiagnoses) lately(now time.Time) []made {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.made = slices.DeleteFunc(u.made, func(m made) bool { return m.state == madeFailed && now.Sub(m.began) > DiagnosedWithin })
	return slices.Clone(u.made)
}

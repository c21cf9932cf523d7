package agent

import (
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/fleet"
)

// errTwice is why the second of two runs with one ID is refused.
var errTwice = errors.New("it is in the plan twice")

// sift takes out of a plan what its host cannot hold, run by run, and returns it: the controller may be newer, or mistaken, and the
// rest of the plan is as good as it was. A run of a kind or with a parameter that is not known stays: its host may know it when
// its time comes, and refuses it then if not.
func sift(p *fleet.Plan) (refused []fleet.Unread) {
	refused, p.Unread = p.Unread, nil
	seen := make(map[ulid.ULID]bool, len(p.Runs))
	runs := p.Runs[:0]
	for _, r := range p.Runs {
		id, err := checkRun(p.Host, &r)
		if err == nil && seen[id] {
			err = errTwice
		}
		if err != nil {
			refused = append(refused, fleet.Unread{Run: r, Why: err})
			continue
		}
		seen[id] = true
		runs = append(runs, r)
	}
	opens := p.Opens[:0]
	for _, o := range p.Opens {
		if _, err := ulid.ParseStrict(o.Run); err == nil {
			opens = append(opens, o)
		}
	}
	p.Runs, p.Opens = runs, opens
	return refused
}

// refuse answers a run that was sifted out with a failed Result, where the controller can know that it is the run's.
func (a *Agent) refuse(u fleet.Unread) {
	a.log.Warn("a run of the plan is refused", "run", u.Run.ID, "tool", u.Run.Tool, "why", u.Why)
	if _, err := ulid.ParseStrict(u.Run.ID); err != nil || u.Run.Source != a.config.Host || errors.Is(u.Why, errTwice) || a.known(u.Run.ID) {
		return
	}
	if u.Run.Start.IsZero() {
		u.Run.Start = a.now()
	}
	a.put(failed(&u.Run, fmt.Errorf("refused: %w", u.Why)))
}

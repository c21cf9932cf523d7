package agent

import (
	"encoding/json"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// agenda is what a plan wants done and what of it is still to come. It is pure: no clock, no lock.
type agenda struct {
	runs  series[plannedRun]
	opens series[plannedOpening]
}

// newAgenda takes a plan of which everything is to come but the runs named in gone.
func newAgenda(p *fleet.Plan, gone map[ulid.ULID]bool) agenda {
	runs := make([]plannedRun, 0, len(p.Runs))
	shared := templates{}
	for i := range p.Runs {
		runs = append(runs, shared.plan(&p.Runs[i]))
	}
	opens := make([]plannedOpening, 0, len(p.Opens))
	for _, o := range p.Opens {
		opens = append(opens, plannedOpening(o))
	}
	every := period(p)
	return agenda{newSeries(runs, p.From, every, gone), newSeries(opens, p.From, every, map[ulid.ULID]bool{})}
}

// period is how long a plan lasts before it is repeated; 0: it is not. One shorter than a tick would be repeated more often
// than an agent looks: it is a mistake.
func period(p *fleet.Plan) time.Duration {
	if every := p.Until.Sub(p.From); !p.From.IsZero() && every >= tick {
		return every
	}
	return 0
}

// plannedRun is a run of a plan, with what it shares with many others in one place: a plan of ten thousand runs has some
// hundred that differ in more than ID, time and secret.
type plannedRun struct {
	key       ulid.ULID
	start     time.Time
	shared    *measure.Run // without these
	responder *measure.Responder
}

func (r plannedRun) id() ulid.ULID { return r.key }
func (r plannedRun) at() time.Time { return r.start }

// patience is how long after it was due the run may still begin.
func (r plannedRun) patience() time.Duration {
	return r.shared.Latest().Sub(r.shared.Start) + claimAhead + tick
}

// repeats says whether the run began with its plan: one before was carried over from another.
func (r plannedRun) repeats(from, until time.Time) bool {
	return !r.start.Before(from) && r.start.Before(until)
}

func (r plannedRun) again(n int, after time.Duration) plannedRun {
	again := r.run().Again(n, after)
	return plannedRun{key: parseID(again.ID), start: again.Start, shared: r.shared, responder: again.Responder}
}

func (r plannedRun) run() measure.Run {
	run := *r.shared
	run.ID, run.Start, run.Responder = r.key.String(), r.start, r.responder
	return run
}

// templates are what runs share, by its JSON.
type templates map[string]*measure.Run

func (t templates) plan(r *measure.Run) plannedRun {
	shared := *r
	shared.ID, shared.Start, shared.Responder = "", time.Time{}, nil
	planned := plannedRun{key: parseID(r.ID), start: r.Start, shared: &shared, responder: r.Responder}
	if text, err := json.Marshal(&shared); err == nil {
		if known := t[string(text)]; known != nil {
			planned.shared = known
		} else {
			t[string(text)] = &shared
		}
	}
	return planned
}

// plannedOpening is an opening of a plan.
type plannedOpening fleet.Opening

func (o plannedOpening) id() ulid.ULID           { return parseID(o.Run) }
func (o plannedOpening) at() time.Time           { return o.From }
func (o plannedOpening) patience() time.Duration { return o.Until.Sub(o.From) }

// repeats says whether the opening's run is repeated. When that starts is not in an opening, but an ID has its run's time in
// milliseconds. One of another time than the opening's is taken to start with it.
func (o plannedOpening) repeats(from, until time.Time) bool {
	start := ulid.Time(o.id().Time())
	if start.Before(o.From.Truncate(time.Millisecond)) || start.After(o.Until) {
		start = o.From
	}
	return !start.Before(from.Truncate(time.Millisecond)) && start.Before(until)
}

func (o plannedOpening) again(n int, after time.Duration) plannedOpening {
	return plannedOpening(fleet.Opening(o).Again(n, after))
}

// parseID reads the ID of a run. One that is no ULID, such as an old plan may have, is the zero value.
func parseID(id string) ulid.ULID {
	u, _ := ulid.ParseStrict(id)
	return u
}

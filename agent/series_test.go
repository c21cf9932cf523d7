package agent

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// plannedAt is a run that was planned for a time, so that its ID is of that time, and what its target opens for it.
func plannedAt(start time.Time) (measure.Run, fleet.Opening) {
	r := newRun(0, start)
	r.ID = ulid.MustNew(ulid.Timestamp(start), ulid.DefaultEntropy()).String()
	r.Responder = &measure.Responder{Kind: measure.ResponderIperf3, Port: 5201, Secret: secret}
	return r, fleet.Opening{Run: r.ID, Source: host, From: start.Add(-5 * time.Second), Until: start.Add(time.Minute), Responder: *r.Responder}
}

// plansAt are the plans of the source and of the target of runs at times after noon.
func plansAt(from, until time.Time, starts ...time.Duration) (source, target fleet.Plan) {
	source = fleet.Plan{Host: host, Number: 1, From: from, Until: until}
	target = fleet.Plan{Host: "b", Number: 1, From: from, Until: until}
	for _, start := range starts {
		r, o := plannedAt(noon.Add(start))
		source.Runs, target.Opens = append(source.Runs, r), append(target.Opens, o)
	}
	return source, target
}

func runsOf(due []plannedRun) (runs []measure.Run) {
	for _, d := range due {
		runs = append(runs, d.run())
	}
	return runs
}

func opensOf(due []plannedOpening) (opens []fleet.Opening) {
	for _, d := range due {
		opens = append(opens, fleet.Opening(d))
	}
	return opens
}

// TestRounds claims what is due of a plan of five minutes at moments of the hours after it.
func TestRounds(t *testing.T) {
	const minute = time.Minute
	source, target := plansAt(noon, noon.Add(5*minute), -30*time.Second, 2*time.Second, 2*minute, 5*minute-time.Second, 6*minute)
	const carried, early, middle, late, beyond = 0, 1, 2, 3, 4
	type due struct{ run, round int }
	for name, test := range map[string]struct {
		change func(*fleet.Plan)
		marks  []time.Duration // moments of claims before
		by     time.Duration
		want   []due
	}{
		"the plan itself":               {by: 4 * minute, want: []due{{carried, 0}, {early, 0}, {middle, 0}}},
		"once more":                     {marks: []time.Duration{5 * minute}, by: 9 * minute, want: []due{{early, 1}, {beyond, 0}, {middle, 1}}},
		"the third time":                {marks: []time.Duration{10 * minute}, by: 15 * minute, want: []due{{early, 2}, {middle, 2}, {late, 2}}},
		"across two rounds":             {marks: []time.Duration{11 * minute}, by: 16 * minute, want: []due{{middle, 2}, {late, 2}, {early, 3}}},
		"what is begun, what is now":    {marks: []time.Duration{11 * minute}, by: 73 * minute, want: []due{{middle, 2}, {late, 2}, {early, 14}, {middle, 14}}},
		"a round ends within its slots": {marks: []time.Duration{11 * minute}, by: 70*minute + 10*time.Second, want: []due{{middle, 2}, {late, 2}, {early, 13}, {middle, 13}, {late, 13}, {early, 14}}},
		"found late":                    {by: 73 * minute, want: []due{{carried, 0}, {early, 0}, {middle, 0}, {late, 0}, {beyond, 0}, {early, 14}, {middle, 14}}},
		"the clock is set back":         {marks: []time.Duration{71 * minute}, by: 11 * minute},
		"and comes there again":         {marks: []time.Duration{71 * minute, 11 * minute}, by: 73 * minute, want: []due{{middle, 14}}},
		"no beginning":                  {change: func(p *fleet.Plan) { p.From = time.Time{} }, marks: []time.Duration{7 * minute}, by: 70 * minute},
		"no length":                     {change: func(p *fleet.Plan) { p.Until = p.From }, marks: []time.Duration{7 * minute}, by: 70 * minute},
		"negative length":               {change: func(p *fleet.Plan) { p.Until = p.From.Add(-minute) }, marks: []time.Duration{7 * minute}, by: 70 * minute},
		"next to no length":             {change: func(p *fleet.Plan) { p.Until = p.From.Add(time.Millisecond) }, marks: []time.Duration{7 * minute}, by: 70 * minute},
	} {
		t.Run(name, func(t *testing.T) {
			p, opens := source, target
			if test.change != nil {
				test.change(&p)
			}
			a, b := newAgenda(&p, map[ulid.ULID]bool{}), newAgenda(&opens, nil)
			for _, mark := range test.marks {
				a.runs.claim(noon.Add(mark))
				b.opens.claim(noon.Add(mark - 5*time.Second))
			}
			var want []measure.Run
			var wantOpens []fleet.Opening
			for _, d := range test.want {
				run, open := source.Runs[d.run], target.Opens[d.run]
				if d.round > 0 {
					shift := time.Duration(d.round) * 5 * minute
					run, open = run.Again(d.round, shift), open.Again(d.round, shift)
				}
				want, wantOpens = append(want, run), append(wantOpens, open)
			}
			if diff := cmp.Diff(want, runsOf(a.runs.claim(noon.Add(test.by)))); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wantOpens, opensOf(b.opens.claim(noon.Add(test.by-5*time.Second)))); diff != "" && test.change == nil {
				t.Errorf("openings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRoundsAgainstAll goes through random plans by a clock that mostly goes on, and at times back: of all that there is, each
// run is claimed once, and its target has opened for it before.
func TestRoundsAgainstAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		every := time.Duration(1+random.IntN(600)) * time.Second
		var starts []time.Duration
		for range random.IntN(20) {
			starts = append(starts, time.Duration(random.Int64N(int64(every+10*time.Second)))-5*time.Second)
		}
		source, target := plansAt(noon, noon.Add(every), starts...)
		a, b := newAgenda(&source, map[ulid.ULID]bool{}), newAgenda(&target, nil)
		var got []string
		opened := map[string]string{}
		for now := noon.Add(-time.Minute); now.Before(noon.Add(10 * every)); {
			next, coming := b.opens.next()
			due := b.opens.claim(now)
			if len(due) > 0 && !due[0].From.Equal(next) || len(due) == 0 && coming && !next.After(now) {
				t.Fatalf("at %v: %d openings are due; the next was to be at %v (%v)", now, len(due), next, coming)
			}
			for _, o := range due {
				opened[o.Run] = o.Responder.Secret
			}
			for _, r := range runsOf(a.runs.claim(now)) {
				got = append(got, r.ID)
				if opened[r.ID] != r.Responder.Secret {
					t.Fatalf("at %v: run %s has the secret %q, its target %q", now, r.ID, r.Responder.Secret, opened[r.ID])
				}
				if again, ok := a.runs.find(parseID(r.ID), r.Start); !ok || again.run().Responder.Secret != r.Responder.Secret {
					t.Fatalf("run %s is not found", r.ID)
				}
			}
			now = now.Add(time.Duration(random.Int64N(int64(every) / 2)))
			if random.IntN(10) == 0 {
				now = now.Add(-time.Duration(random.Int64N(int64(every) / 2)))
			}
		}
		want := upTo(&source, a.runs.mark)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("a plan of %v: claimed (-want +got):\n%s", every, diff)
		}
	}
}

// upTo names all runs of a plan and its repetitions that start by a time.
func upTo(p *fleet.Plan, by time.Time) (ids []string) {
	every := p.Until.Sub(p.From)
	for n := 0; !p.From.Add(time.Duration(n)*every).After(by) || n == 0; n++ {
		for _, r := range p.Runs {
			if n > 0 && (r.Start.Before(p.From) || !r.Start.Before(p.Until)) {
				continue
			}
			if again := r.Again(n, time.Duration(n)*every); n > 0 {
				r = again
			}
			if !r.Start.After(by) {
				ids = append(ids, r.ID)
			}
		}
	}
	return ids
}

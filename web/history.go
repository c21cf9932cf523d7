package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/diagnose"
)

type historyInput struct {
	Source string `path:"source"`
	Target string `path:"target"`
	From   moment `query:"from" doc:"The beginning; a week ago, where none is given"`
	To     moment `query:"to" doc:"The end; now, where none is given"`
	PlannedRole
	Others bool `query:"others" default:"true" doc:"Whether to say which other pairs changed with it, which takes longer than all else"`
}

const (
	// historySpan is how much of the past is looked at where nothing is said.
	historySpan = 7 * 24 * time.Hour
	// viaEvery is how often round trips by way of other hosts are gathered anew: the archive keeps what it gathered for who asks for the same times.
	viaEvery = 5 * time.Minute
	// longestHistory is how much may be: in more, a point of a series stands for more than a day.
	longestHistory = 400 * 24 * time.Hour
	// mostEvents is how many are told of, and mostLookedInto of how many it is looked into who changed with the pair: a path that
	// changes more often has another problem than any of them.
	mostEvents     = 20
	mostLookedInto = 5
)

// history says what changed between two hosts within a span, when, and what changed with it.
func (s *Server) history(ctx context.Context, in *historyInput) (*body[*diagnose.Diagnosis], error) {
	now := time.Now()
	from, to := spanUntil(in.From, in.To, now, historySpan)
	if !from.Before(to) || to.Sub(from) > longestHistory {
		return nil, fault(badField("from", from.Format(time.RFC3339), "a time before to, and at most 400 days before it"))
	}
	p := &past{Server: s, source: in.Source, target: in.Target, role: in.Role, from: from.UTC(), to: to.UTC()}
	d, err := p.diagnose(ctx, in.Others)
	if err != nil {
		return nil, fault(err)
	}
	return &body[*diagnose.Diagnosis]{d}, nil
}

// past is a history in the making.
type past struct {
	*Server
	source, target, role string
	from, to             time.Time
	looked               []diagnose.Looked
	events               []diagnose.Event
	notes                []string
	made                 func(archive.Pair) []analysis.Part // what pairs are made of, once it was read
}

// diagnose reads what there is, and says what it means.
func (p *past) diagnose(ctx context.Context, others bool) (*diagnose.Diagnosis, error) {
	if err := p.metrics(ctx); err != nil {
		return nil, err
	}
	if err := p.routes(ctx); err != nil {
		return nil, err
	}
	p.finish()
	for i := range p.events {
		e := &p.events[i]
		if err := p.meanwhile(ctx, e); err != nil {
			return nil, err
		}
		if others && i < mostLookedInto && len(e.Changed) > 0 {
			if err := p.others(ctx, e); err != nil {
				return nil, err
			}
		}
	}
	h := &diagnose.History{Source: p.source, Target: p.target, From: p.from, To: p.to, Series: p.looked, Events: p.events}
	via, err := control.Via(ctx, p.Archive, p.source, p.target, p.to.Truncate(viaEvery))
	if err != nil {
		return nil, err
	}
	if via.Host != "" && via.StraightSeconds > 0 {
		h.Via = &via
	}
	d := diagnose.DiagnoseHistory(h)
	d.Notes = append(d.Notes, p.notes...)
	return d, nil
}

// finish orders events, newest first, bounds how many there are, and finds out when each ended: when a later one has what changed back
// where it was.
func (p *past) finish() {
	slices.SortFunc(p.events, func(a, b diagnose.Event) int { return b.Until.Compare(a.Until) })
	if len(p.events) > mostEvents {
		p.notes = append(p.notes, fmt.Sprintf("%d changes were found; the newest %d are told of", len(p.events), mostEvents))
		p.events = p.events[:mostEvents]
	}
	for i := range p.events {
		for j := i - 1; j >= 0 && p.events[i].Ended == nil; j-- {
			if undoes(&p.events[j], &p.events[i]) {
				p.events[i].Ended = &p.events[j].Until
			}
		}
	}
}

// undone is how much of a change must be gone for it to be over.
const undone = 0.5

// undoes says whether a later event has the metrics of an earlier one back near where they were before: all that it is about.
func undoes(later, earlier *diagnose.Event) bool {
	if len(earlier.Changed) == 0 {
		return false
	}
	for _, c := range earlier.Changed {
		i := slices.IndexFunc(later.Changed, func(l diagnose.Changed) bool { return l.Metric == c.Metric })
		if i < 0 {
			return false
		}
		rose := c.Now.Value - c.Before.Value
		left := later.Changed[i].Now.Value - c.Before.Value
		if left/rose > undone {
			return false
		}
	}
	return true
}

// add puts a change into the event of its time, or makes one of it. Two are of one time if both may have been at once, as far as their
// runs tell: what is measured more often then says when. slack is how much longer a bucket of runs takes than its beginning says.
func (p *past) add(after, until time.Time, creep bool, slack time.Duration, into func(*diagnose.Event)) {
	for i := range p.events {
		e := &p.events[i]
		isCreep := slices.ContainsFunc(e.Changed, func(c diagnose.Changed) bool { return c.Shape == analysis.Creep })
		if isCreep != creep || after.Add(-slack).After(e.Until) || until.Add(slack).Before(e.After) {
			continue
		}
		if until.Sub(after) < e.Until.Sub(e.After) {
			e.After, e.Until = after, until
		}
		into(e)
		return
	}
	e := diagnose.Event{After: after, Until: until, Changed: []diagnose.Changed{}, With: []string{},
		Pairs: []diagnose.Together{}, Shared: []analysis.Shared{}}
	into(&e)
	p.events = append(p.events, e)
}

// routes adds the moves of traffic, of each test that traces.
func (p *past) routes(ctx context.Context) error {
	all, more, err := p.traces(ctx, p.source, p.target, p.from, p.to)
	if err != nil {
		return err
	}
	if more {
		p.notes = append(p.notes, "not all routes of this span were looked at")
	}
	names := p.namesOn(all)
	for _, traces := range all {
		for _, m := range analysis.CourseOf(traces).Moves {
			p.add(m.Before.Last, m.After.First, false, 0, func(e *diagnose.Event) {
				text := diagnose.RouteText(names.route(&m.Before), names.route(&m.After))
				e.Route = &diagnose.Moved{Text: text, Before: len(m.Before.Hops), Now: len(m.After.Hops),
					Last: m.Before.Newest, First: m.After.Result}
			})
		}
	}
	return nil
}

// nearby is how long before or after an event something is said to have happened about then.
const nearby = 30 * time.Minute

// meanwhile notes configurations, and what diagnoses of either way found, about the time of an event.
func (p *past) meanwhile(ctx context.Context, e *diagnose.Event) error {
	from, to := e.After.Add(-nearby), e.Until.Add(nearby)
	var all []changeDoc
	for _, way := range [][2]string{{p.source, p.target}, {p.target, p.source}} {
		found, _, err := p.findings(ctx, way[0], way[1], from, to)
		if err != nil {
			return err
		}
		for _, f := range found {
			f.Text = "a diagnosis of " + f.Text
			all = append(all, f)
		}
	}
	if p.Config != nil {
		versions, err := p.Config.Changes(from, to)
		if err != nil {
			return err
		}
		all = append(all, configurations(versions, visitorOf(ctx).may(account.Admin))...)
	}
	slices.SortStableFunc(all, func(a, b changeDoc) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Text, b.Text)) })
	for _, c := range all {
		e.With = append(e.With, fmt.Sprintf("%s, %s UTC", c.Text, c.At.UTC().Format("2006-01-02 15:04")))
	}
	return nil
}

// exactly is the pair, in the role that was asked for.
func (p *past) exactly() archive.Match {
	match := archive.Key{Source: p.source, Target: p.target}.Exactly()
	match.Role = p.role
	return match
}

package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/measure"
)

// reckoning is what became of the runs of the mesh.
type reckoning struct {
	began, ended time.Time // the span that it is of, by when runs were planned to start
	results      int
	why          map[string]int         // of misses, and of runs that failed
	planned      map[string][]time.Time // runs with a Result or a miss, by pair; those before and after the span, too
	measured     map[string][]time.Time // of these, those that went well
	twice        []string               // what has an ID that another one has
}

// reckon says what became of the runs planned from began to ended, as far as the controller knows by now.
func (m *meshLab) reckon(began, ended time.Time) reckoning {
	m.t.Helper()
	a := reckoning{began: began, ended: ended, why: map[string]int{}, planned: map[string][]time.Time{},
		measured: map[string][]time.Time{}}
	ids := map[string]bool{}
	note := func(id, source, target, why string) {
		if ids[id] {
			a.twice = append(a.twice, fmt.Sprintf("%s from %s to %s is there twice", id, source, target))
		}
		ids[id] = true
		at, pair := plannedAt(m.t, id), source+" to "+target
		a.planned[pair] = append(a.planned[pair], at)
		if why == "" {
			a.measured[pair] = append(a.measured[pair], at)
		} else if a.covers(at) {
			a.why[source+": "+why]++
		}
	}
	for _, r := range m.results() {
		why := ""
		if r.Status != measure.StatusOK {
			why, _, _ = strings.Cut(*r.Error, ":")
		}
		note(r.ID, r.Source.Name, r.Target.Name, why)
		if a.covers(plannedAt(m.t, r.ID)) {
			a.results++
		}
	}
	for _, miss := range m.misses() {
		note(miss.Run, miss.Source, miss.Target, miss.Why)
	}
	return a
}

func (a *reckoning) covers(at time.Time) bool { return !at.Before(a.began) && at.Before(a.ended) }

// asPlanned names where the runs of the span do not follow each other as planned: one that has neither Result nor miss, or
// two in the place of one; and runs that came to nothing, but those of the host whose agent was stopped, which say so.
func asPlanned(stopped string) func(*reckoning) []string {
	return func(a *reckoning) []string {
		wrong := a.apart(a.planned, faultEvery/2, faultEvery*3/2)
		for why, n := range a.why {
			if why != stopped+": missed" && why != stopped+": the agent was stopped while it ran" {
				wrong = append(wrong, fmt.Sprintf("%d runs of %s", n, why))
			}
		}
		return wrong
	}
}

// goneOn names where a pair was not measured for the time of several runs, or more often than it was to be. A plan and its
// repetition, and that and the next plan, meet at any distance.
func goneOn(a *reckoning) []string {
	wrong := a.apart(a.measured, 0, 5*faultEvery)
	for pair, times := range a.measured {
		n, most := 0, int(a.ended.Sub(a.began)/faultEvery)+4
		for _, at := range times {
			if a.covers(at) {
				n++
			}
		}
		if n > most {
			wrong = append(wrong, fmt.Sprintf("%s: measured %d times, want %d at most", pair, n, most))
		}
	}
	return wrong
}

// apart names where runs of a pair are nearer to each other than least, or farther than most.
func (a *reckoning) apart(runs map[string][]time.Time, least, most time.Duration) (wrong []string) {
	if len(runs) != faultPairs {
		wrong = append(wrong, fmt.Sprintf("runs of %d pairs, want %d", len(runs), faultPairs))
	}
	for pair, times := range runs {
		slices.SortFunc(times, time.Time.Compare)
		first, last := times[0], times[len(times)-1]
		if first.After(a.began) || last.Before(a.ended) {
			wrong = append(wrong, fmt.Sprintf("%s: none before %s or none after %s", pair, first.Format(inLog), last.Format(inLog)))
		}
		for i, at := range times[1:] {
			gap := at.Sub(times[i])
			if at.After(a.began) && times[i].Before(a.ended) && (gap < least || gap > most) {
				wrong = append(wrong, fmt.Sprintf("%s: %v to the run planned for %s, want %v", pair, gap, at.Format(inLog), faultEvery))
			}
		}
	}
	return wrong
}

// inLog is the layout of times in what a test says.
const inLog = "15:04:05.000"

// plannedAt is when a run was to start: its ID has that.
func plannedAt(t *testing.T, id string) time.Time {
	t.Helper()
	u, err := ulid.ParseStrict(id)
	if err != nil {
		t.Fatalf("ID %q: %v", id, err)
	}
	return ulid.Time(u.Time())
}

// misses are all that the archive holds: page by page, each from where the one before ended.
func (m *meshLab) misses() (all []measure.Miss) {
	m.t.Helper()
	const most = 1000 // that one answer has
	controller := controllerFlag(pflag.NewFlagSet("", pflag.ContinueOnError))
	controller.data = m.data
	seen := map[string]bool{}
	for query := (url.Values{"limit": {strconv.Itoa(most)}}); ; {
		var doc struct{ Misses []measure.Miss }
		if err := controller.get(context.Background(), "misses", query, &doc); err != nil {
			m.t.Fatal(err)
		}
		before := len(all)
		for _, miss := range doc.Misses {
			if !seen[miss.Run] {
				seen[miss.Run] = true
				all = append(all, miss)
			}
		}
		if len(doc.Misses) < most {
			return all
		}
		if len(all) == before {
			m.t.Fatalf("%d misses of one moment", most)
		}
		oldest := doc.Misses[most-1].Start.Add(time.Nanosecond) // others may be of its moment
		query.Set("to", oldest.Format(time.RFC3339Nano))
	}
}

// settled waits until all is well with the runs of a span; wrong says what is not.
func (m *meshLab) settled(began, ended time.Time, wrong func(*reckoning) []string) {
	m.t.Helper()
	patience := 3 * time.Minute // a spool delivers again after half a minute, and then a whole one
	if faultRounds(0) > 0 {
		patience = 11 * time.Minute // and in the end after ten
	}
	deadline := time.Now().Add(patience)
	for {
		a := m.reckon(began, ended)
		bad := slices.Concat(a.twice, wrong(&a))
		if len(bad) > 0 && time.Now().Before(deadline) {
			time.Sleep(time.Second) // other processes work
			continue
		}
		for _, b := range bad {
			m.t.Error(b)
		}
		m.t.Logf("%v: %d results", ended.Sub(began).Round(time.Second), a.results)
		for _, why := range slices.Sorted(maps.Keys(a.why)) {
			m.t.Logf("%d of %s", a.why[why], why)
		}
		return
	}
}

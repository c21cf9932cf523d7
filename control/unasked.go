package control

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/diagnose"
)

// Worse is what is wrong in a mesh: the pairs that were looked at, and what package analysis says of them.
type Worse struct {
	Pairs []analysis.Watched
	analysis.Health
}

// A diagnosis that nobody asked for is made of what got worse, if none was made of it since. How many an hour there may be is for the
// mesh file to say.
const (
	// DiagnosedWithin is how old a diagnosis may be that says why something is wrong now: what stays wrong is diagnosed once a day.
	DiagnosedWithin = 24 * time.Hour
	// unaskedTogether is how many may be under way, each between two hosts that the other does not measure: a second trouble need not
	// wait for the first, and the plan keeps nearly all hosts of a mesh.
	unaskedTogether = 2
	// unaskedAgain is how long the same trouble is left alone, also where it seems to have begun anew: a trouble that comes and goes by
	// the hour has one cause. After a diagnosis that came to nothing it is unaskedRetry, since a host may have been busy.
	unaskedAgain = 3 * time.Hour
	unaskedRetry = time.Hour
	// unaskedShare is which part of the bytes that a host or a site may move in a day tests on demand may have taken together where nobody
	// asked for the last of them: most of the day's is the plan's and people's.
	unaskedShare = 0.25
)

// made is a diagnosis that was made or is being made.
type made struct {
	source, target string
	began          time.Time
	trouble        string // what it was made of, unasked; "": somebody asked for it
	state          madeState
}

type madeState int

const (
	madeFiled madeState = iota
	madeFailed
	madeUnderWay
)

// unasked is a diagnosis to begin now.
type unasked struct {
	trouble, source, target string
	common                  *diagnose.Common // of the trouble; nil: it is of one pair
}

// mayBegin says whether one more may be begun now, of whatever. hourly is how many there may be in an hour.
func mayBegin(before []made, hourly int, now time.Time) bool {
	lately, together := 0, 0
	for _, m := range before {
		if m.trouble != "" && now.Sub(m.began) < time.Hour {
			lately++
		}
		if m.state == madeUnderWay {
			together++
		}
	}
	return lately < hourly && together < unaskedTogether
}

// nextUnasked says which diagnosis to begin now, if one may be: of what shows most and was not diagnosed since it began, between the two
// hosts that show it most and whose Result is of nothing else that is wrong. nil: none. before are those of the last day, and fit says
// between which hosts one can be made.
func nextUnasked(w *Worse, before []made, now time.Time, fit func(source, target string) bool) *unasked {
	busy := map[string]bool{}
	for _, m := range before {
		if m.state == madeUnderWay {
			busy[m.source], busy[m.target] = true, true
		}
	}
	for k := range w.Troubles {
		name := TroubleName(&w.Troubles[k])
		if leftAlone(name, before, now) || w.diagnosed(k, before) {
			continue
		}
		var best *analysis.Watched
		fewest := 0
		for _, i := range w.Own(k) {
			p := &w.Pairs[i]
			if n := failures(before, p); !busy[p.Source] && !busy[p.Target] && (best == nil || n < fewest) && fit(p.Source, p.Target) {
				best, fewest = p, n
			}
		}
		if best != nil {
			return &unasked{name, best.Source, best.Target, common(&w.Troubles[k])}
		}
	}
	return nil
}

// failures is how many diagnoses of a pair came to nothing.
func failures(before []made, p *analysis.Watched) (n int) {
	for _, m := range before {
		if m.state == madeFailed && m.source == p.Source && m.target == p.Target {
			n++
		}
	}
	return n
}

// TroubleName is how a trouble is called in what is filed of it, such as "host lyon".
func TroubleName(t *analysis.Trouble) string { return string(t.Kind) + " " + t.Name }

// leftAlone says whether a trouble was seen to too short a time ago.
func leftAlone(trouble string, before []made, now time.Time) bool {
	return slices.ContainsFunc(before, func(m made) bool {
		wait := unaskedAgain
		if m.state == madeFailed {
			wait = unaskedRetry
		}
		return m.trouble == trouble && (m.state == madeUnderWay || now.Sub(m.began) < wait)
	})
}

// diagnosed says whether somebody diagnosed a trouble since it began: one of its own pairs, either way.
func (w *Worse) diagnosed(trouble int, before []made) bool {
	since := time.Time{}
	for _, s := range w.Troubles[trouble].Signs {
		if s.Since.After(since) {
			since = s.Since
		}
	}
	own := w.Own(trouble)
	return slices.ContainsFunc(before, func(m made) bool {
		return m.state == madeFiled && !m.began.Before(since) && slices.ContainsFunc(own, func(i int) bool {
			p := &w.Pairs[i]
			return p.Source == m.source && p.Target == m.target || p.Source == m.target && p.Target == m.source
		})
	})
}

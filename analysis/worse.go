package analysis

import (
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

var (
	// delayWorth and rateWorth are which differences are worth a line of the first page: a tenth of the way, and a fifth of a rate.
	delayWorth = Worth{Least: 5e-4, Share: 0.1}
	rateWorth  = Worth{Share: 0.2}
)

const (
	// knownDays is how many whole days tell what a day brings; knownHours, and usualRuns in them, are what must be known without them.
	knownDays, knownHours, usualRuns = 3, 4, 8
	// daysEdge and hoursEdge are the quantiles of the edges of days and hours up to which all is usual: one of six days may have been
	// as ill as today, and so may one hour in ten.
	daysEdge, hoursEdge = 0.75, 0.9
	// newestPart is the part of what is known that may be ill, where only hours are known: of a day the busy third is as ill each day.
	newestPart = 0.25
	// asIll is how much of what is wrong now must have been wrong before, for that to be the same.
	asIll = 0.5
	// NowRuns is how many runs of the newest spell say how it is now.
	NowRuns = 1
)

// What a run counts for, as the logarithm of how seldom a usual one is there, among runs of which one in twenty is beyond the edge: where
// the median is beyond it, where all of them are, and where they are beyond it by as much again; and how much all of an hour count for at
// the most, since they are alike.
const (
	evidenceBeyond, mostBeyond = 1.3, 6.0
	evidenceApart, mostApart   = 3.0, 12.0
	evidenceFar, mostFar       = 4.6, 18.0
)

// usual is what a series was like: its level, and the edge to the worse side of what it does anyway.
type usual struct{ level, edge float64 }

// isDay says whether something is known of a whole day.
func (s *Spell) isDay() bool { return s.Length >= 24*time.Hour && s.Runs > 0 }

// usualOf says what spells were like, larger being worse; false: too little is known. Whole days tell it where there are some: each has all
// hours, and a fault of some hours is not of them.
func usualOf(spells []Spell) (u usual, known bool) {
	var days, hours []Spell
	runs := 0
	for _, s := range spells {
		switch {
		case s.Runs == 0:
		case s.isDay():
			days = append(days, s)
		default:
			hours = append(hours, s)
			runs += s.Runs
		}
	}
	of, edge := days, daysEdge
	if len(days) < knownDays {
		if len(hours) < knownHours || runs < usualRuns {
			return u, false
		}
		of, edge = hours, hoursEdge
	}
	var levels, edges []float64
	for _, s := range of {
		levels, edges = append(levels, s.Value), append(edges, max(s.High, s.Value))
	}
	slices.Sort(edges)
	return usual{median(levels), stat.Quantile(edges, edge)}, true
}

// evidence is what a spell says against being usual; 0: it is as usual.
func (u usual) evidence(s *Spell, worth Worth) float64 {
	if s.Value <= u.edge || !worth.telling(u.level, s.Value) {
		return 0
	}
	each, most := evidenceBeyond, mostBeyond
	switch best := min(s.Low, s.Value); {
	case best > u.edge+(u.edge-u.level) && worth.telling(u.level, best):
		each, most = evidenceFar, mostFar
	case best > u.edge:
		each, most = evidenceApart, mostApart
	}
	return min(most, each*float64(s.Runs))
}

// worse says since when a series is worse than usual; nil: it is not. turned: less is worse. known: enough is known to say so.
func worse(spells []Spell, worth Worth, turned bool) (sign *Sign, known bool) {
	if turned {
		spells = slices.Clone(spells)
		for i, s := range spells {
			spells[i].Window = Window{-s.Value, -s.High, -s.Low, s.Runs}
		}
	}
	last := len(spells) - 1
	if spells[last].Runs < NowRuns {
		return nil, false
	}
	if _, known = usualOf(spells[:last]); !known {
		return nil, false
	}
	for k := 1; k <= last; k++ {
		u, enough := usualOf(spells[:len(spells)-k])
		if !enough || !mayBeIll(spells, k) {
			break
		}
		total, of := 0.0, []float64{}
		for _, s := range spells[len(spells)-k:] {
			if s.Runs == 0 {
				continue
			}
			e := u.evidence(&s, worth)
			if e == 0 || s.Value-u.level < asIll*(spells[last].Value-u.level) {
				total = 0
				break
			}
			total, of = total+e, append(of, s.Value)
		}
		first := spells[len(spells)-k]
		if total == 0 || first.Runs == 0 || sign != nil && total <= sign.Evidence || !u.stepsTo(median(of), spells[:len(spells)-k]) {
			continue
		}
		sign = &Sign{Since: first.From, Longer: k == last, Usual: math.Abs(u.level), Now: math.Abs(median(of)), Evidence: total}
	}
	return sign, true
}

const (
	// stepWithin is how many spells before a change the series was still usual where it is a step: in one of them it may have happened.
	stepWithin = 2
	// stillUsual is how much of the whole change may have come by then.
	stillUsual = 0.4
)

// stepsTo says whether a series came to another level at once after these spells, where no days are known: what gets busier by the hour,
// up to its worst, does so each day.
func (u usual) stepsTo(level float64, before []Spell) bool {
	days, near := 0, 0
	for i := len(before) - 1; i >= 0; i-- {
		s := before[i]
		if s.isDay() {
			days++
		}
		if s.Runs == 0 || near >= stepWithin {
			continue
		}
		if near++; s.Value-u.level <= stillUsual*(level-u.level) {
			return true
		}
	}
	return days >= knownDays
}

// mayBeIll says whether the newest k spells may be ill while the others say what is usual.
func mayBeIll(spells []Spell, k int) bool {
	days, known := 0, 0
	for i, s := range spells {
		if s.Runs > 0 {
			known++
		}
		if i < len(spells)-k && s.isDay() {
			days++
		}
	}
	return days >= knownDays || k == 1 || float64(k) <= newestPart*float64(known)
}

// shortOf is the part of the declared rate that a transfer has to get: a single one over a long way gets less than all.
const shortOf = 0.5

// short says that transfers get far less than is declared, as they always do; nil: they do not, or nothing is declared.
func short(spells []Spell, declared float64) *Sign {
	last := len(spells) - 1
	if declared <= 0 || spells[last].Runs == 0 || spells[last].High >= shortOf*declared {
		return nil
	}
	sign := &Sign{Usual: declared, Now: spells[last].Value, Declared: true}
	first := last
	for i := last; i >= 0; i-- {
		if s := spells[i]; s.Runs > 0 && s.Value >= shortOf*declared {
			break
		} else if s.Runs > 0 {
			first = i
			sign.Evidence += min(mostApart, evidenceApart*float64(s.Runs))
		}
	}
	sign.Since = spells[first].From
	sign.Longer = !slices.ContainsFunc(spells[:first], func(s Spell) bool { return s.Runs > 0 })
	return sign
}

const (
	// leastSent is how many packets tell what a pair loses usually.
	leastSent = 50.0
	// muchLoss is a ratio that is too much even where it is usual: half of what the table of metrics calls bad.
	muchLoss = 0.005
)

// spellsLost are how many of the newest spells are taken together to see whether packets are lost in them.
var spellsLost = []int{1, 2, 3, 4, 6, 8, 12}

// losing says since when packets are lost more often than before, by the likelihood ratio of the counts, or that they always are; nil:
// they are not.
func losing(spells []Spell) (sign *Sign, known bool) {
	newest := spells[len(spells)-1]
	if newest.All <= 0 {
		return nil, false
	}
	if of, all := sum(spells[:len(spells)-1]); all < leastSent {
		return nil, false
	} else if newest.Of == 0 {
		return nil, of+all > 0
	}
	for _, k := range spellsLost {
		if 2*k > len(spells) {
			break
		}
		split := len(spells) - k
		of, all := sum(spells[:split])
		l, m := sum(spells[split:])
		if all < leastSent || l/m < leastTimes*of/all || l/m-of/all < leastRatio {
			continue
		}
		e := logLikelihood(of, all) + logLikelihood(l, m) - logLikelihood(of+l, all+m)
		if spells[split].Of > 0 && (sign == nil || e > sign.Evidence) {
			sign = &Sign{Since: spells[split].From, Usual: of / all, Now: l / m, Evidence: e, again: again(spells[split:])}
		}
	}
	if sign != nil && sign.Evidence >= suspicious {
		return sign, true
	}
	return alwaysLosing(spells), true
}

// alwaysLosing says that more packets are lost than any transfer can bear, as always; nil: they are not.
func alwaysLosing(spells []Spell) *Sign {
	l, m := sum(spells)
	if l < leastCounted || l/m < muchLoss || !again(spells) {
		return nil
	}
	few := l*math.Log(muchLoss) + (m-l)*math.Log(1-muchLoss)
	return &Sign{Since: spells[0].From, Longer: true, Usual: l / m, Now: l / m, Evidence: logLikelihood(l, m) - few, again: true}
}

// sum is how many of how many spells have together.
func sum(spells []Spell) (of, all float64) {
	for _, s := range spells {
		of, all = of+s.Of, all+s.All
	}
	return of, all
}

// againRuns is how many runs a spell has of which a quarter lost packets, for that to be more than a short burst.
const againRuns = 9

// again says whether packets are lost again and again: in two hours, or in a quarter of the runs of one.
func again(spells []Spell) bool {
	hours := 0
	for _, s := range spells {
		if s.Of > 0 {
			hours++
		}
		if s.High > 0 && s.Runs >= againRuns {
			return true
		}
	}
	return hours > 1
}

package analysis

import (
	"slices"
	"time"
)

// Aspect is a respect in which a path may be worse than it should be.
type Aspect string

// Aspects of a path. Of lost packets a Spell has the counts, of the others what the runs came to.
const (
	Losing  Aspect = "loss"       // packets lost of packets sent
	Delayed Aspect = "delay"      // round trips, in seconds
	Slowed  Aspect = "throughput" // bit/s
)

// Aspects are all of them, in the order in which they are told.
var Aspects = []Aspect{Losing, Slowed, Delayed}

// Spell is what the runs of a stretch of time came to: an hour, or a whole day of the past.
type Spell struct {
	From    time.Time
	Length  time.Duration
	Window          // of lost packets: how many a run lost, and High is of three runs in four
	Of, All float64 // of lost packets: how many of how many
}

// Watched is a pair, as it was and as it is.
type Watched struct {
	Source, Target string
	Parts          []Part
	// Spells are in order of time, the newest being now. Days that are over may stand before the hours. An aspect of which nothing
	// is known now is not looked at.
	Spells map[Aspect][]Spell
	// Declared is the rate that both hosts are said to have, in bit/s; 0: nobody says.
	Declared float64
}

// Sign says that a pair is worse in one aspect.
type Sign struct {
	Aspect
	// Since is when the first Spell began that is so without a break until now, and Longer that it may be so since before: as far as
	// anything is known.
	Since  time.Time
	Longer bool
	// Usual is what it was before, and Now what it is since. Where a rate is as it has always been and far below what is declared,
	// Usual is the declared one.
	Usual, Now float64
	Declared   bool
	// Evidence is how unlikely that is by chance: the negative of the logarithm of about how often a calm pair shows it.
	Evidence float64
	again    bool // lost packets: in more runs than one
}

const (
	// suspicious is the Evidence of a Sign that counts where other pairs show it too: a packet lost of the hundred of an hour.
	suspicious = 2.5
	// aloneSure is the Evidence of a pair by itself, and sharedSure that of all pairs together that have something in common. Each pair
	// counts for mostEvidence at the most, since its runs are not independent. A mesh of 40 hosts has 1560 pairs, whose logarithm is 7.4.
	aloneSure, sharedSure, mostEvidence = 13, 25, 18
)

// Health is what is wrong in a mesh.
type Health struct {
	// Troubles are what is wrong, what shows most first.
	Troubles []Trouble
	// Signs are those of each pair, in the order in which pairs were given: also those that are no trouble yet.
	Signs [][]Sign
	// Known says of each pair whether enough is known of it to be looked at, and Looked of how many.
	Known  []bool
	Looked int
}

// Own are the pairs of a Trouble that belong to no other, the surest first: what is found between them is of this one. Where each
// belongs to another, too, they are all.
func (h *Health) Own(trouble int) []int {
	pairs := h.Troubles[trouble].Pairs
	own := slices.DeleteFunc(slices.Clone(pairs), func(i int) bool {
		for k := range h.Troubles {
			if k != trouble && slices.Contains(h.Troubles[k].Pairs, i) {
				return true
			}
		}
		return false
	})
	if len(own) == 0 {
		return pairs
	}
	return own
}

// Trouble is one thing that is wrong: with a part, which all its pairs have in common, or with one pair alone.
type Trouble struct {
	Part
	Signs []Told
	// Pairs are those that show it, as they stand in the list that was given, the surest first.
	Pairs    []int
	Evidence float64
}

// Told is in which respect a Trouble shows.
type Told struct {
	Sign     // of all its pairs together: their counts in one, or the medians
	Ill, All int
	Pairs    []int // those that are Ill
}

// Judge says which pairs are worse than they use to be, or than is declared, since when, and what they have in common. How often it is
// wrong TestPlanted in package web tells.
func Judge(pairs []Watched) Health {
	h := Health{Signs: make([][]Sign, len(pairs)), Known: make([]bool, len(pairs))}
	looked := make([]map[Aspect]bool, len(pairs))
	for i := range pairs {
		h.Signs[i], looked[i] = pairs[i].signs()
		if h.Known[i] = len(looked[i]) > 0; h.Known[i] {
			h.Looked++
		}
	}
	views := map[Aspect]*view{}
	for _, aspect := range []Aspect{Losing, Delayed, Slowed} { // what is lost or late makes transfers slow
		views[aspect] = newView(pairs, h.Signs, looked, aspect)
		if aspect == Slowed {
			views[aspect].blame(h.Troubles)
		}
		h.Troubles = append(h.Troubles, views[aspect].troubles()...)
	}
	h.Troubles = joined(h.Troubles, views)
	slices.SortStableFunc(h.Troubles, bySum)
	return h
}

// signs are those of a pair, and in which respects enough is known of it to have one.
func (p *Watched) signs() (signs []Sign, known map[Aspect]bool) {
	known = map[Aspect]bool{}
	for _, aspect := range Aspects {
		spells := p.Spells[aspect]
		if len(spells) == 0 {
			continue
		}
		var s *Sign
		var enough bool
		switch aspect {
		case Losing:
			s, enough = losing(spells)
		case Delayed:
			s, enough = worse(spells, delayWorth, false)
		case Slowed:
			if s, enough = worse(spells, rateWorth, true); s == nil {
				s = short(spells, p.Declared)
			}
		}
		if enough {
			known[aspect] = true
		}
		if s != nil && s.Evidence >= suspicious {
			s.Aspect = aspect
			signs = append(signs, *s)
		}
	}
	return signs, known
}

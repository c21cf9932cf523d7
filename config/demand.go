package config

import (
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Adjust returns what a run of the tool needs: what the probe says, and over it what the file says.
func (t *Tool) Adjust(d measure.Demand) measure.Demand {
	if t.Exclusive != nil {
		d.Exclusive = *t.Exclusive
	}
	if t.Needs.Duration > 0 {
		d.DurationSeconds = t.Needs.Duration.Seconds()
	}
	if t.Needs.BitsPerSecond > 0 {
		d.BitsPerSecond = t.Needs.BitsPerSecond
	}
	if t.Needs.Bytes > 0 {
		d.Bytes = t.Needs.Bytes
	}
	if limit := t.Timeout.Seconds(); limit > 0 && (d.DurationSeconds == 0 || d.DurationSeconds > limit) {
		d.DurationSeconds = limit
	}
	return d
}

// PerDay is how often a schedule is due in a day, on average.
func (s *Schedule) PerDay() float64 {
	if s.Every > 0 {
		return daySeconds / s.Every.Seconds()
	}
	return cronPerDay(s)
}

// cronPerDay counts a whole number of weeks, long enough for what happens once a year.
func cronPerDay(s *Schedule) float64 {
	const weeks, few = 60, 1000
	begin := referenceWeek
	at, n := begin, 0
	for n < few {
		next := s.NextCron(at)
		if next.IsZero() || next.Sub(begin) > weeks*7*24*time.Hour {
			return float64(n) / (weeks * 7)
		}
		at = next
		n++
	}
	return few / (at.Sub(begin).Hours() / 24) // often enough for a mean over less
}

// referenceWeek is a Monday without a change of clocks near: averages are of any week.
var referenceWeek = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

// openings says for what share of a week excluded hours leave a pair open.
type openings struct {
	timed  []*Exclusion
	weeks  [][]bool           // by exclusion: each minute of the week in which it holds
	shares map[string]float64 // by the set of exclusions that part a pair
	key    []byte
}

func newOpenings(t *Test) *openings {
	o := &openings{timed: t.timed, shares: map[string]float64{}}
	for _, x := range t.timed {
		week := make([]bool, 7*quantity.DayMinutes)
		for i := range week {
			at := referenceWeek.Add(time.Duration(i) * time.Minute)
			week[i] = x.during(at, at.Add(time.Second))
		}
		o.weeks = append(o.weeks, week)
	}
	return o
}

func (o *openings) share(source, target int) float64 {
	if len(o.timed) == 0 {
		return 1
	}
	o.key = o.key[:0]
	for i, x := range o.timed {
		if x.parts(source, target) {
			o.key = append(o.key, byte(i), byte(i>>8))
		}
	}
	share, known := o.shares[string(o.key)]
	if !known {
		share = o.count(o.key)
		o.shares[string(o.key)] = share
	}
	return share
}

// count is the share of the week's minutes in which none of the exclusions holds.
func (o *openings) count(key []byte) float64 {
	free := 0
	for minute := range 7 * quantity.DayMinutes {
		closed := false
		for i := 0; i < len(key); i += 2 {
			closed = closed || o.weeks[int(key[i])|int(key[i+1])<<8][minute]
		}
		if !closed {
			free++
		}
	}
	return float64(free) / (7 * quantity.DayMinutes)
}

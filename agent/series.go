package agent

import (
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/oklog/ulid/v2"
)

// event is a run or an opening of a plan.
type event[T any] interface {
	id() ulid.ULID
	at() time.Time
	patience() time.Duration            // after at, while it is of use
	repeats(from, until time.Time) bool // with the plan from … until
	again(n int, after time.Duration) T // its n-th repetition
}

// series are the events of a plan and their repetitions, by time:
//
//	       from           +every          +2 every
//	a  b    |  c    d    e  |  c'   d'   e' |  c"   d"   e" |  …
//	carried      round 0          round 1         round 2
//	over                             ^ mark: what came before is claimed
//
// However often a plan is repeated, no more is kept than its own events and the mark: which repetition it is follows from
// the time. The mark only moves on, so that whatever a clock does, nothing is claimed twice.
type series[T event[T]] struct {
	events   []T // of round 0, by time
	from     time.Time
	every    time.Duration // 0: there is no other round
	lead     time.Duration // by which an event may be before its round: an opening, which is there before its run starts
	patience time.Duration // the longest of any event
	mark     time.Time
	gone     map[ulid.ULID]bool // not to come, though the mark has not passed them
}

func newSeries[T event[T]](events []T, from time.Time, every time.Duration, gone map[ulid.ULID]bool) series[T] {
	slices.SortStableFunc(events, func(x, y T) int { return x.at().Compare(y.at()) })
	s := series[T]{events: events, from: from, every: every, gone: gone}
	for _, e := range events {
		s.patience = max(s.patience, e.patience())
		if every > 0 && e.repeats(from, s.until()) {
			s.lead = max(s.lead, from.Sub(e.at()))
		}
	}
	return s
}

func (s *series[T]) until() time.Time { return s.from.Add(s.every) }

// round is the number of the round at a time.
func (s *series[T]) round(at time.Time) int {
	if s.every == 0 || at.Before(s.from) {
		return 0
	}
	return int(at.Sub(s.from) / s.every)
}

// claim takes what is due by a time, and moves the mark there. Of rounds that passed while nobody claimed, it takes the rest
// of the one that had begun; those behind it, of which nothing may begin any more, never were.
func (s *series[T]) claim(by time.Time) (due []T) {
	if !by.After(s.mark) {
		return nil
	}
	begun, now := s.round(s.mark), s.round(by)
	rounds := []int{0, begun}
	// A round that came to its end with events that can still begin is caught up with, if it is the last one.
	for n := max(begun, now-1, s.round(by.Add(-s.patience))); n <= s.round(by.Add(s.lead)); n++ {
		rounds = append(rounds, n)
	}
	for _, n := range slices.Compact(rounds) {
		for i, end := s.after(s.mark, n), s.after(by, n); i < end; i++ {
			if e, ok := s.event(i, n); ok && !s.gone[e.id()] {
				due = append(due, e)
			}
		}
	}
	slices.SortStableFunc(due, func(x, y T) int { return x.at().Compare(y.at()) })
	s.mark = by
	return due
}

// after is the index of the first event of a round that comes after a time.
func (s *series[T]) after(at time.Time, round int) int {
	at = at.Add(-s.shift(round))
	return sort.Search(len(s.events), func(i int) bool { return s.events[i].at().After(at) })
}

func (s *series[T]) shift(round int) time.Duration { return time.Duration(round) * s.every }

// event is the i-th of a round, if it is in it.
func (s *series[T]) event(i, round int) (e T, ok bool) {
	if e = s.events[i]; round == 0 {
		return e, true
	}
	if !e.repeats(s.from, s.until()) {
		return e, false
	}
	return e.again(round, s.shift(round)), true
}

// next is when the first event comes after the mark.
func (s *series[T]) next() (next time.Time, ok bool) {
	for _, n := range s.coming() {
		for i := s.after(s.mark, n); i < len(s.events); i++ {
			if n > 0 && !s.events[i].repeats(s.from, s.until()) {
				continue
			}
			if at := s.events[i].at().Add(s.shift(n)); !ok || at.Before(next) {
				next, ok = at, true
			}
			break
		}
	}
	return next, ok
}

// find returns an event, claimed or not.
func (s *series[T]) find(id ulid.ULID, at time.Time) (found T, ok bool) {
	for _, n := range []int{0, s.round(at)} {
		for i := s.after(at.Add(-1), n); i < s.after(at, n); i++ {
			if e, ok := s.event(i, n); ok && e.id() == id {
				return e, true
			}
		}
	}
	return found, false
}

// coming are the rounds of the events after the mark: this one, and the next that is wholly to come.
func (s *series[T]) coming() []int {
	rounds := []int{0}
	if s.every > 0 {
		for n := s.round(s.mark); n <= s.round(s.mark.Add(s.lead))+1; n++ {
			rounds = append(rounds, n)
		}
	}
	return rounds
}

// cancel takes out an event that is coming.
func (s *series[T]) cancel(id ulid.ULID) (e T, ok bool) {
	for _, n := range s.coming() {
		for i := s.after(s.mark, n); i < len(s.events); i++ {
			if e, ok = s.event(i, n); ok && e.id() == id && !s.gone[id] {
				s.gone[id] = true
				return e, true
			}
		}
	}
	return e, false
}

// past are the events of round 0 that are not to come any more.
func (s *series[T]) past() map[ulid.ULID]bool {
	past := maps.Clone(s.gone)
	for _, e := range s.events[:s.after(s.mark, 0)] {
		past[e.id()] = true
	}
	return past
}

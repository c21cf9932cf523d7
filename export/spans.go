package export

import (
	"cmp"
	"slices"
	"time"
)

// slot is ten seconds of time in which Results began, counted since 1970: the unit in which a RemoteWriter knows what
// it has not sent. Shorter ones would be written to disk more often, longer ones sent again in larger pieces.
type slot int64

const slotSeconds = 10

// Slots begin within what RFC 3339 can write: broken clocks do come along.
var (
	firstSecond = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	lastSecond  = time.Date(9999, 12, 31, 23, 59, 0, 0, time.UTC).Unix()
)

func slotOf(t time.Time) slot {
	seconds := min(max(t.Unix(), firstSecond), lastSecond)
	s := seconds / slotSeconds
	if seconds%slotSeconds < 0 {
		s-- // before 1970
	}
	return slot(s)
}

func (s slot) start() time.Time { return time.Unix(int64(s)*slotSeconds, 0).UTC() }

// span is the slots from, from+1, ... to-1.
type span struct{ from, to slot }

// spans is a set of slots: spans in order, none of which touches the next.
type spans []span

// add returns the set with the slots of one more span.
func (all spans) add(s span) spans {
	if s.from >= s.to {
		return all
	}
	first, _ := slices.BinarySearchFunc(all, s.from, func(e span, from slot) int { return cmp.Compare(e.to, from) })
	last := first
	for ; last < len(all) && all[last].from <= s.to; last++ {
		s.from, s.to = min(s.from, all[last].from), max(s.to, all[last].to)
	}
	return slices.Replace(all, first, last, s)
}

// has says whether a slot is in the set.
func (all spans) has(s slot) bool {
	i, _ := slices.BinarySearchFunc(all, s+1, func(e span, end slot) int { return cmp.Compare(e.to, end) })
	return i < len(all) && all[i].from <= s
}

// takeFirst removes the earliest slot of a set that is not empty.
func (all spans) takeFirst() (slot, spans) {
	first := all[0].from
	all[0].from++
	if all[0].from == all[0].to {
		all = all[1:]
	}
	return first, all
}

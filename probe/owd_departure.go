package probe

import "time"

// departure is when an answer left by the far end's kernel, which it says in a later one. Its zero value: it does not say.
type departure struct {
	count uint32 // of the answer
	left  time.Time
}

// departures brings answers and what later ones say of them together. An answer of which none says anything, as the last one of a run, keeps the time
// that it has itself: when it was made.
type departures struct {
	answered map[uint32]int       // by count, the packets whose answers came
	told     map[uint32]time.Time // by count, when answers left that have not come yet
}

// mostDepartures bounds how many of either wait for the other: what is told in the next answer comes after as many as are reordered.
const mostDepartures = 1024

// came notes the first answer to a packet, and returns when it left, if that was told already.
func (d *departures) came(index int, count uint32) (left time.Time, told bool) {
	if left, told = d.told[count]; told {
		delete(d.told, count)
		return left, true
	}
	if d.answered == nil || len(d.answered) >= mostDepartures {
		d.answered = map[uint32]int{}
	}
	d.answered[count] = index
	return left, false
}

// tell notes when an answer left, and returns to which packet it was, if that came already.
func (d *departures) tell(one departure) (index int, came bool) {
	if one.left.IsZero() {
		return 0, false
	}
	if index, came = d.answered[one.count]; came {
		delete(d.answered, one.count)
		return index, true
	}
	if d.told == nil || len(d.told) >= mostDepartures {
		d.told = map[uint32]time.Time{}
	}
	d.told[one.count] = one.left
	return index, false
}

// leave corrects when the answer to a packet left, unless that contradicts when it was made: by two clocks the times do not compare.
func (p *owdPacket) leave(left time.Time) {
	if !left.Before(p.answered) {
		p.answered = left
	}
}

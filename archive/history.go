package archive

// history knows when something was last changed in which day, so that who remembers an answer knows how long it holds.
// It is guarded by the lock of its owner.
type history struct {
	now  int64           // number of the last change
	all  int64           // of the last one that concerned every day
	days map[int64]int64 // day since 1970 -> number of the last one in it, since all
	last int64           // day that was noted last
}

// mostDays is how many days are told apart. Beyond it, which takes somebody who fills an archive with the past, all
// count as changed.
const mostDays = 4096

// begin begins a change.
func (h *history) begin() { h.now, h.last = h.now+1, -1 }

// changed notes that something was changed at a time, ns since 1970.
func (h *history) changed(ns int64) {
	d := floorDiv(ns, day)
	if d == h.last {
		return
	}
	if h.days == nil {
		h.days = map[int64]int64{}
	}
	if len(h.days) >= mostDays {
		clear(h.days)
		h.all = h.now
	}
	h.days[d], h.last = h.now, d
}

// changedAll notes that anything may have been changed.
func (h *history) changedAll() {
	h.begin()
	clear(h.days)
	h.all = h.now
}

// holds tells whether nothing was changed in [from, to) since a change of this number.
func (h *history) holds(since, from, to int64) bool {
	if h.all > since {
		return false
	}
	first, last := floorDiv(from, day), floorDiv(to-1, day)
	if last-first >= int64(len(h.days)) {
		for d, changed := range h.days {
			if d >= first && d <= last && changed > since {
				return false
			}
		}
		return true
	}
	for d := first; d <= last; d++ {
		if h.days[d] > since {
			return false
		}
	}
	return true
}

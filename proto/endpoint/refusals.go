package endpoint

import (
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// logEvery is how often refusals are told of, so that who sends many does not fill the log.
const logEvery = 10 * time.Second

// Refusals counts packets that were not taken, by the reason, of which there are few. One goroutine uses it.
type Refusals struct {
	Title string // of its lines in the log, such as "STAMP packets not answered"

	counts map[string]uint64
	told   time.Time
	untold bool
}

// Add counts one, and tells of all since the beginning if it was not done lately.
func (r *Refusals) Add(log *slog.Logger, now time.Time, why string, from netip.AddrPort) {
	if r.counts == nil {
		r.counts = map[string]uint64{}
	}
	r.counts[why]++
	if r.untold = now.Sub(r.told) < logEvery; !r.untold {
		r.told = now
		log.Info(r.Title, "last", why, "from", from, r.totals())
	}
}

// Tell tells of those that were not told of yet.
func (r *Refusals) Tell(log *slog.Logger) {
	if r.untold {
		r.untold = false
		log.Info(r.Title, r.totals())
	}
}

// totals are the counts since the beginning.
func (r *Refusals) totals() slog.Attr {
	var all []any
	for _, why := range slices.Sorted(maps.Keys(r.counts)) {
		all = append(all, slog.Uint64(why, r.counts[why]))
	}
	return slog.Group("packets", all...)
}

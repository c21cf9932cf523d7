package schedule

import (
	"math"
	"time"
)

// stream is a splitmix64 generator: small enough to have one for each pair and cycle.
type stream uint64

func (s *stream) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	return mix(uint64(*s))
}

// float is uniform in (0, 1].
func (s *stream) float() float64 { return float64(s.next()>>11+1) / (1 << 53) }

// shift is uniform in [0, 1).
func (s *stream) shift() float64 { return float64(s.next()>>11) / (1 << 53) }

// mix is splitmix64's output function: each bit of the result depends on each of x.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashName is 64-bit FNV-1a.
func hashName(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return mix(h)
}

// combine hashes several numbers to one; their order counts.
func combine(parts ...uint64) uint64 {
	h := uint64(0)
	for _, p := range parts {
		h = mix(h*31 + p + 0x9e3779b97f4a7c15)
	}
	return h
}

// cycle is one turn of a test: from its start to the start of the next.
type cycle struct{ number, start, end int64 }

// grid cuts time into cycles.
type grid struct {
	every time.Duration
	next  func(time.Time) time.Time
}

// at is the cycle that holds the time; ok is false before the first and after the last.
func (g *grid) at(t int64) (c cycle, ok bool) {
	if g.next == nil {
		n := floorDiv(t, int64(g.every))
		return cycle{n, n * int64(g.every), (n + 1) * int64(g.every)}, true
	}
	for back := time.Minute; back < maxCycleBack; back *= 2 {
		start := g.next(time.Unix(0, t).Add(-back))
		if start.IsZero() || start.UnixNano() > t {
			continue
		}
		for {
			end := g.next(start)
			if end.IsZero() {
				return cycle{start.Unix(), start.UnixNano(), never}, true
			}
			if end.UnixNano() > t {
				return cycle{start.Unix(), start.UnixNano(), end.UnixNano()}, true
			}
			start = end
		}
	}
	return cycle{}, false
}

// maxCycleBack is how far back the beginning of a cycle is sought: cron can name 29 February, and skip one in 2100.
const maxCycleBack = 9 * 366 * 24 * time.Hour

// after is the cycle that follows c.
func (g *grid) after(c cycle) (cycle, bool) {
	if c.end == never {
		return cycle{}, false
	}
	return g.at(c.end)
}

// cycles calls each for the cycles that overlap [from, until), in order.
func (g *grid) cycles(from, until int64, each func(cycle)) {
	c, ok := g.at(from)
	if !ok && g.next != nil { // before the first
		if first := g.next(time.Unix(0, from)); !first.IsZero() {
			c, ok = g.at(first.UnixNano())
		}
	}
	for ok && c.start < until {
		each(c)
		c, ok = g.after(c)
	}
}

// gap is the shortest distance of cycles, as far as can be seen.
func (g *grid) gap() time.Duration {
	if g.next == nil {
		return g.every
	}
	const looks = 400 // more than a year of daily cycles
	shortest := maxCycleBack
	last := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Second) // a leap year that begins on a Monday
	for i := range looks {
		t := g.next(last)
		if t.IsZero() {
			break
		}
		if i > 0 {
			shortest = min(shortest, t.Sub(last))
		}
		last = t
	}
	return shortest
}

// arrivals are the times, from 0 to below length, of a memoryless process with the period as its mean gap. Because it
// is memoryless, it may begin anew in each cell without a trace. shift, from 0 to below 1, sets a pair's ticks apart
// from those of others, or all would begin at once.
func arrivals(s stream, shift float64, sampling Sampling, period, length time.Duration, each func(at int64)) {
	if sampling == Poisson {
		for t := 0.0; ; {
			t -= math.Log(s.float()) * float64(period)
			if t >= float64(length) {
				return
			}
			each(int64(t))
		}
	}
	tick := min(GeometricTick, period/2)
	skip := math.Log1p(-float64(tick) / float64(period))
	for n := math.Floor(math.Log(s.float()) / skip); ; n += 1 + math.Floor(math.Log(s.float())/skip) {
		at := (n + shift) * float64(tick)
		if at >= float64(length) {
			return
		}
		each(int64(at))
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Hours says whether something is closed at a time, and until when that answer holds. It must be a function of its
// argument alone; until is after at, and the zero Time means for ever.
type Hours func(at time.Time) (closed bool, until time.Time)

// Weekly closes from one time of day to another on days of the week. With from after until it closes overnight, and the
// day is the one on which it begins; with both the same it closes all day. Times are of the clock on the wall.
func Weekly(days []time.Weekday, from, until time.Duration, where *time.Location) Hours {
	var on [7]bool
	for _, d := range days {
		on[d] = true
	}
	wall := func(day time.Time, clock time.Duration) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, int(clock), where)
	}
	return func(at time.Time) (bool, time.Time) {
		at = at.In(where)
		next := at.AddDate(0, 0, 1)
		for offset := -1; offset <= 8; offset++ { // yesterday's may still go on; a week always has an answer
			day := time.Date(at.Year(), at.Month(), at.Day()+offset, 12, 0, 0, 0, where)
			if !on[day.Weekday()] {
				continue
			}
			begin, end := wall(day, from), wall(day, until)
			if until <= from {
				end = wall(day.AddDate(0, 0, 1), until)
			}
			if at.Before(begin) {
				return false, begin
			}
			if at.Before(end) {
				return true, end
			}
		}
		return false, next
	}
}

package generated

import (
	"math"
	"time"
)

// path is what a pair of hosts is like at some time.
type path struct {
	base  float64 // round trip of an empty path, s
	queue float64 // mean time in queues, s
	loss  float64 // ratio
	hops  int
}

// What paths are like, roughly as those of research networks.
const (
	kmPerSecond  = 200_000.0 // of light in fibre
	detour       = 1.5       // of fibre, beside the straight line
	nearest      = 0.0004    // s: two hosts in one building
	routeDays    = 9         // a path may change its route so often
	burstChance  = 0.03      // of a burst of loss, each day
	weekendShare = 0.4       // of the load of a weekday
)

// at is what a pair is like at a time. It is a pure function of its arguments: what was is the same in whichever order
// it is asked for.
func (h *History) at(pair int, when time.Time) path {
	source, target := h.pair(pair)
	distance := math.Hypot(source.East-target.East, source.North-target.North)
	own := h.dice(pair, 0, 0)
	p := path{base: nearest + 2*detour*distance/kmPerSecond, hops: 6 + int(own*8)}
	day := when.Unix() / (24 * 3600)
	if period := h.dice(pair, 1, (day+int64(own*routeDays))/routeDays); period < 0.25 && !h.Steady { // another route for now
		p.base *= 1.1 + period
		p.hops += 1 + int(period*12)
	}
	p.queue = (0.0002 + 0.002*own*own) * load(when)
	p.loss = h.burst(pair, day, when)
	if h.Steady {
		p.loss += strayLoss
	}
	return p
}

// load is how busy networks are: least at four in the morning, most in the afternoon, less at weekends.
func load(when time.Time) float64 {
	hour := float64(when.Hour()) + float64(when.Minute())/60
	busy := 1 + 0.9*math.Sin(2*math.Pi*(hour-10)/24)
	if day := when.Weekday(); day == time.Saturday || day == time.Sunday {
		busy *= weekendShare
	}
	return busy
}

// burst is the loss of a path: on some days, for some minutes to two hours.
func (h *History) burst(pair int, day int64, when time.Time) float64 {
	if h.dice(pair, 2, day) >= burstChance {
		return 0
	}
	begin := h.dice(pair, 3, day) * 22 * 3600
	length := 600 + h.dice(pair, 4, day)*6600
	if h.Steady {
		length = min(length, shortest)
	}
	if second := float64(when.Unix() % (24 * 3600)); second < begin || second >= begin+length {
		return 0
	}
	return 0.01 + 0.2*h.dice(pair, 5, day)
}

// dice is a number from 0 up to 1 that depends on nothing but the arguments (splitmix64).
func (h *History) dice(pair, question int, n int64) float64 {
	x := h.Seed ^ uint64(pair+1)*0x9e3779b97f4a7c15 ^ uint64(question+1)*0xd1342543de82ef95
	x ^= uint64(n+1) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Path is what the packets of a sample cross: its narrowest link, and what sends over it.
type Path struct {
	Rate    float64 `json:"rate_bits_per_second"`
	RTT     float64 `json:"rtt_seconds"` // of an empty path
	Queue   float64 `json:"queue_bytes"` // before the narrowest link
	Control string  `json:"congestion_control"`
}

// product is the path's bandwidth-delay product in bytes.
func (p *Path) product() float64 { return p.Rate * p.RTT / 8 }

// band is a range of a stratum, the upper end not included.
type band struct {
	name   string
	lo, hi float64
}

// The bands of rate in bit/s, and of round trip in seconds. Within a band values are drawn evenly on a logarithmic scale.
var (
	rateBands = []band{{"1-10 Mbit/s", 1e6, 1e7}, {"10-100 Mbit/s", 1e7, 1e8}, {"100-1000 Mbit/s", 1e8, 1e9}}
	rttBands  = []band{{"2-20 ms", 2e-3, 20e-3}, {"20-80 ms", 20e-3, 80e-3}, {"80-200 ms", 80e-3, 200e-3}}
)

// controls are the congestion controls that samples go through. BBR does not slow down for loss as such: lossBased leaves it out.
var (
	controls  = []string{"cubic", "reno", "bbr"}
	lossBased = controls[:2]
)

// Stratum names the bands and the control of a path.
func (p *Path) Stratum() string {
	return fmt.Sprintf("%s, %s, %s", bandOf(rateBands, p.Rate), bandOf(rttBands, p.RTT), p.Control)
}

func bandOf(all []band, v float64) string {
	for _, b := range all {
		if v < b.hi {
			return b.name
		}
	}
	return all[len(all)-1].name
}

// cells is how many pairs of bands there are.
var cells = len(rateBands) * len(rttBands)

// drawPath draws a path in a cell, its queue of half a bandwidth-delay product to two.
func drawPath(r *rand.Rand, cell int, control string) Path {
	rate, rtt := rateBands[cell%len(rateBands)], rttBands[cell/len(rateBands)]
	p := Path{Rate: digits(between(r, rate.lo, rate.hi), 3), RTT: digits(between(r, rtt.lo, rtt.hi), 3), Control: control}
	p.Queue = queueOf(&p, between(r, 0.5, 2))
	return p
}

// leastQueue is the shortest queue, in bytes, of a path that loses nothing without need: 20 full packets, two initial windows.
const leastQueue = 20 * fullFrame

const (
	fullFrame   = 1514 // bytes that a full packet takes in a queue
	fullPayload = 1448 // bytes of it that a program gets, with time stamps
)

// queueOf is a queue of so many bandwidth-delay products.
func queueOf(p *Path, products float64) float64 {
	return math.Round(max(leastQueue, products*p.product()))
}

// between draws evenly on a logarithmic scale.
func between(r *rand.Rand, lo, hi float64) float64 { return lo * math.Exp(r.Float64()*math.Log(hi/lo)) }

// digits keeps so many digits of a number, so that plans can be read.
func digits(v float64, n int) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-float64(n-1))
	return math.Round(v/unit) * unit
}

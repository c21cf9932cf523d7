package knowledge

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/calc"
	"github.com/pathwise-net/pathwise/model"
)

const fullPacket = 1500 // bytes of an Ethernet packet

// drawStanding draws the round trip against what is in flight, with a queue that is too long and one that is long enough.
func drawStanding() Picture {
	const rate, long, most = 20e6, 500e3, 700e3
	rtt := 30 * time.Millisecond
	product := model.BandwidthDelay(rate, rtt)
	with := func(queue float64) func(float64) float64 {
		return func(x float64) float64 { return model.StandingRTT(x, rate, rtt, queue).Seconds() }
	}
	return Picture{calc.Drawing{Title: "What a standing queue does to delay", X: calc.Axis{Label: "in flight", Unit: bytes},
		Y: calc.Axis{Label: "round trip", Unit: seconds}, Mark: calc.Point{product, rtt.Seconds()},
		Series: []calc.Series{curve("a queue of 500 kB", 0, most, 28, with(long)), curve("one of 75 kB", 0, most, 28, with(product))}},
		"the path is full",
		"A path of 20 Mbit/s and 30 ms holds 75 kB. All that is in flight above that only waits: a queue of 500 kB makes 230 ms of " +
			"30, and nothing arrives faster."}
}

func drawTokenBucket() Picture {
	const line, rate, burst, last = 100e6, 10e6, 500e3, 0.5
	through := func(x float64) float64 { return model.TokenBucketBytes(model.Seconds(x), line, rate, burst) }
	empty := burst * 8 / (line - rate)
	return Picture{calc.Drawing{Title: "What passes a token bucket", X: calc.Axis{Label: "time", Unit: seconds},
		Y: calc.Axis{Label: "passed", Unit: bytes}, Mark: calc.Point{empty, through(empty)},
		Series: []calc.Series{{Label: "bucket of 500 kB", Points: []calc.Point{{0, 0}, {empty, through(empty)}, {last, through(last)}}},
			curve("at the rate of its tokens", 0, last, 1, func(x float64) float64 { return rate * x / 8 })}},
		"the bucket is empty",
		"A line of 100 Mbit/s and tokens of 10 Mbit/s. For the first 44 ms everything passes; then only what there are tokens for, and the " +
			"rest is dropped by a policer, or held back by a shaper."}
}

// drawPair draws the last bits of two packets from link to link.
func drawPair() Picture {
	rates := []float64{1e9, 1e9, 100e6, 1e9, 1e9}
	d := calc.Drawing{Title: "A pair on its way", X: calc.Axis{Label: "time", Unit: seconds}, Y: calc.Axis{Label: "links passed"}}
	for i, times := range model.Departures(2, fullPacket, rates...) {
		s := calc.Series{Label: []string{"first packet", "second packet"}[i]}
		for link, t := range times {
			s.Points = append(s.Points, calc.Point{t.Seconds(), float64(link + 1)})
		}
		d.Series = append(d.Series, s)
	}
	d.Mark = d.Series[1].Points[len(rates)-1]
	return Picture{d, "the second arrives",
		"Two packets of 1500 bytes over links of 1 Gbit/s, of which the third has 100 Mbit/s; propagation is left out. They leave 12 µs apart " +
			"and arrive 120 µs apart: 1500 bytes in 120 µs are 100 Mbit/s."}
}

// The queue of the picture of delay variation: packets of other traffic at random times before a link of 10 Mbit/s that is busy for that
// share of the time, and so many of them. The numbers behind it are the same each time.
const (
	variationRate  = 10e6
	variationLoad  = 0.7
	variationCount = 4000
	variationSeed  = 1
)

func drawVariation() Picture {
	random := rand.New(rand.NewPCG(variationSeed, 0))
	each := model.SerializationDelay(fullPacket, variationRate).Seconds()
	gaps, services := make([]float64, variationCount), make([]float64, variationCount)
	for i := range gaps {
		gaps[i], services[i] = random.ExpFloat64()*each/variationLoad, each
	}
	waits := model.QueueWaits(gaps, services)
	steps := make([]float64, len(waits)-1)
	for i := range steps {
		steps[i] = math.Abs(waits[i+1] - waits[i])
	}
	d := calc.Drawing{Title: "How much delays vary", X: calc.Axis{Label: "no more than", Unit: seconds},
		Y:      calc.Axis{Label: "share of packets", Unit: ratio},
		Series: []calc.Series{shares("above the least delay (PDV)", waits), shares("from packet to packet (IPDV)", steps)}}
	slices.Sort(waits)
	d.Mark = calc.Point{waits[len(waits)*95/100], 0.95}
	return Picture{d, "95 % of the packets",
		"Packets at random times before a link of 10 Mbit/s that is busy 70 % of the time. Most wait little and a few wait long; two packets " +
			"in a row differ by less, as they met the same queue."}
}

// shares is a line through the quantiles of values, from the least to that of 99 in 100.
func shares(label string, values []float64) calc.Series {
	sorted, s := slices.Sorted(slices.Values(values)), calc.Series{Label: label}
	for share := 0.0; share < 1; share += 0.033 {
		s.Points = append(s.Points, calc.Point{sorted[int(share*float64(len(sorted)))], share})
	}
	return s
}

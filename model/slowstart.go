package model

import (
	"math"
	"time"
)

// InitialWindow is how many segments TCP may send before the first acknowledgement (RFC 6928; Linux since 2.6.39).
const InitialWindow = 10

// SlowStart says how a connection starts: initial segments of mss bytes in the first round trip, twice as many in each that
// follows. That holds where the receiver acknowledges often enough that every byte counts (RFC 3465), as Linux does at the
// start of a connection, and where nothing is lost.
//
//	round     0        1        2        3
//	sent      10       20       40       80     segments
//	so far    10       30       70      150 = 10 * (2^4 - 1)
//
// Source: RFC 5681 section 3.1, RFC 6928.
type SlowStart struct {
	MSS     float64 // bytes
	Initial float64 // segments; 0 means InitialWindow
}

func (s SlowStart) first() float64 {
	if s.Initial == 0 {
		return InitialWindow * s.MSS
	}
	return s.Initial * s.MSS
}

// ToWindow returns how many round trips pass until the window holds at least that many bytes, and how many bytes were sent
// in them.
func (s SlowStart) ToWindow(window float64) (rounds int, sent float64) {
	if window <= s.first() {
		return 0, 0
	}
	rounds = int(math.Ceil(math.Log2(window / s.first())))
	return rounds, s.first() * (math.Exp2(float64(rounds)) - 1)
}

// ToDeliver returns in how many round trips that many bytes are sent and acknowledged, if no round can carry more than
// ceiling bytes: the window, or the bandwidth-delay product where the path's rate is the limit; 0 means no ceiling.
func (s SlowStart) ToDeliver(bytes, ceiling float64) (rounds float64) {
	if ceiling == 0 || ceiling > bytes {
		ceiling = bytes
	}
	doubling, sent := s.ToWindow(ceiling)
	if sent >= bytes {
		return math.Ceil(math.Log2(bytes/s.first() + 1))
	}
	return float64(doubling) + math.Ceil((bytes-sent)/ceiling)
}

// Recovery is how a connection of the Reno family comes back from one loss.
type Recovery struct {
	FullPackets   float64 // in flight before the loss, rounded down
	HalvedPackets float64 // in flight after it, rounded down
	Rounds        float64 // round trips until FullPackets again
	Time          time.Duration
}

// RecoveryTime returns the time back to the full window of a path of that rate (bit/s) after one loss: the window halves, then
// grows by one packet (bytes) each round trip. CUBIC is faster where the product of rate and RTT is large.
//
// Source: RFC 5681 section 3.1; Measurement and Monitoring (2009), "TCP Congestion Avoidance", which rounds packets down.
func RecoveryTime(rate float64, rtt time.Duration, packet float64) Recovery {
	r := Recovery{FullPackets: math.Floor(BandwidthDelay(rate, rtt) / packet)}
	r.HalvedPackets = math.Floor(r.FullPackets / 2)
	r.Rounds = r.FullPackets - r.HalvedPackets
	r.Time = Seconds(r.Rounds * rtt.Seconds())
	return r
}

// Acceleration returns by how many bit/s the rate grows each second in congestion avoidance: one MSS (bytes) more in each
// round trip, in every round trip, is MSS / RTT^2.
//
// Source: RFC 5681 section 3.1; High Performance Data Transfer (2006), "TCP Acceleration".
func Acceleration(mss float64, rtt time.Duration) float64 {
	return mss * 8 / (rtt.Seconds() * rtt.Seconds())
}

package model

import (
	"math"
	"time"
)

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

package model

import (
	"math"
	"time"
)

// SpeedOfLight is how many metres light travels in a second in free space, exactly: the metre is defined by it.
const SpeedOfLight = 299792458

// FibreVelocity is how fast a signal travels in glass, as a share of the speed of light: 200 km in a millisecond, so that 100 km
// of fibre are 1 ms of round trip.
//
// Source: High Performance Data Transfer (2006), "Speed of Light in Media".
const FibreVelocity = 0.667

// SerializationDelay returns how long a packet of that many bytes takes to be put on a link of that rate (bit/s).
//
// Source: PERT Performance Guides (2005), 1.2.1.2.
func SerializationDelay(bytes, rate float64) time.Duration { return Seconds(bytes * 8 / rate) }

// PropagationDelay returns how long a signal takes for a distance in metres, one way, at a share of the speed of light.
//
// Source: PERT Performance Guides (2005), 1.2.1.1.
func PropagationDelay(metres, velocity float64) time.Duration {
	return Seconds(metres / (velocity * SpeedOfLight))
}

// Reach returns the longest distance in metres between two hosts whose round trip is that long: the signal goes there and back.
func Reach(rtt time.Duration, velocity float64) float64 {
	return rtt.Seconds() / 2 * velocity * SpeedOfLight
}

// TurnsTime returns how long an exchange takes in which a program waits for an answer that many times, and in which that many bytes
// are moved at a rate in bit/s; 0 bytes, or a rate of 0, add nothing.
//
// Source: Network Application Performance (2012), "Application Turns".
func TurnsTime(turns float64, rtt time.Duration, bytes, rate float64) time.Duration {
	spent := turns * rtt.Seconds()
	if rate > 0 {
		spent += bytes * 8 / rate
	}
	return Seconds(spent)
}

// WrapTime returns how many seconds a counter of bytes with that many bits takes to come round at a rate in bit/s. It may be more
// than the 292 years that a Duration holds.
//
// Source: High Performance Data Transfer (2006), "SNMP Counter Wrap"; RFC 2863 section 3.1.6.
func WrapTime(bits, rate float64) float64 { return math.Exp2(bits) * 8 / rate }

// PacketLoss returns the share of packets of that many bytes that arrive damaged over that many links, where each bit is wrong with
// probability ber, independently of all others: 1 - (1 - ber)^(8 bytes links).
//
// Source: High Performance Data Transfer (2006), "Concerns About Bit Errors".
func PacketLoss(ber, bytes, links float64) float64 {
	return -math.Expm1(8 * bytes * links * math.Log1p(-ber))
}

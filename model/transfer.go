package model

import (
	"math"
	"time"
)

// A Transfer is a number of bytes to move over a path without loss, in one connection that is already open.
type Transfer struct {
	Bytes     float64
	Rate      float64 // bit/s of TCP payload that the path carries (see Overhead); 0 means no limit
	RTT       time.Duration
	Window    float64 // bytes, the least of the buffers at both ends; 0 means no limit
	SlowStart SlowStart
}

// Phases are the parts of a Transfer's time, in order. Its bytes are the sum of theirs.
//
//	window |            ________________
//	       |         __|                |____
//	       |      __|                   |    |
//	       |_____|                      |    |
//	       +-slow start-+----steady-----+last+--> time
type Phases struct {
	Rounds         int // of slow start, one round-trip time each
	SlowStartBytes float64
	SlowStart      time.Duration

	SteadyRate  float64 // bit/s: the path's, or a window each round trip where that is less; 0 without either limit
	SteadyBytes float64
	Steady      time.Duration

	LastBytes float64       // less than a window: what is left where no steady rate spread it
	Last      time.Duration // to send them and to have the last byte acknowledged

	Total time.Duration
}

// TransferTime returns the time from sending the first byte to the acknowledgement of the last: slow start until a round
// trip fills the path or the window, then the steady rate. It leaves out TCP's handshake, one more round-trip time.
//
// Source: the doubling of RFC 5681 section 3.1 up to the window of RFC 7323 section 1.1. Cardwell, Savage, Anderson, "Modeling
// TCP Latency", INFOCOM 2000, have the same parts, and losses and delayed acknowledgements, which this leaves out.
func TransferTime(t Transfer) Phases {
	p := Phases{SteadyRate: t.Rate}
	ceiling := t.Bytes // the most that one round trip can carry
	if t.Rate > 0 {
		ceiling = min(ceiling, BandwidthDelay(t.Rate, t.RTT))
	}
	windowed := false
	if t.Window > 0 {
		ceiling = min(ceiling, t.Window)
		limit := WindowLimit(t.Window, t.RTT)
		if windowed = t.Rate == 0 || limit < t.Rate; windowed {
			p.SteadyRate = limit
		}
	}

	p.Rounds, p.SlowStartBytes = t.SlowStart.ToWindow(ceiling)
	if p.SlowStartBytes >= t.Bytes { // over before a round trip is full: the last round is what is left
		p.Rounds = int(t.SlowStart.ToDeliver(t.Bytes, 0)) - 1
		p.SlowStartBytes = t.SlowStart.first() * (math.Exp2(float64(p.Rounds)) - 1)
	}
	p.SlowStart = Seconds(float64(p.Rounds) * t.RTT.Seconds())

	left := t.Bytes - p.SlowStartBytes
	switch {
	case windowed: // whole windows, one each round trip
		p.SteadyBytes = (math.Ceil(left/t.Window) - 1) * t.Window
	case t.Rate > 0:
		p.SteadyBytes = left
	}
	if p.SteadyBytes > 0 {
		p.Steady = Seconds(p.SteadyBytes * 8 / p.SteadyRate)
	}
	p.LastBytes = left - p.SteadyBytes
	p.Last = t.RTT
	if t.Rate > 0 {
		p.Last = Seconds(t.RTT.Seconds() + p.LastBytes*8/t.Rate)
	}
	p.Total = Seconds(p.SlowStart.Seconds() + p.Steady.Seconds() + p.Last.Seconds()) // a sum of Durations would overflow
	return p
}

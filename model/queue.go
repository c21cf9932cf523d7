package model

import "time"

// StandingRTT returns the round trip of a path while that many bytes are in flight: what is more than its bandwidth-delay product stands
// in the queue before its narrowest link, at most as much as the queue holds. Rate is that link's in bit/s, rtt that of the idle path.
//
// Source: Kleinrock, 1979, "Power and Deterministic Rules of Thumb"; RFC 7567 section 2.
func StandingRTT(inFlight, rate float64, rtt time.Duration, queue float64) time.Duration {
	standing := min(max(0, inFlight-BandwidthDelay(rate, rtt)), queue)
	return rtt + SerializationDelay(standing, rate)
}

// TokenBucketBytes returns how many bytes have passed a token bucket that was full when they began to come, at the rate of the line
// before it (bit/s): a burst at the line's rate, and then tokens at theirs, if that is less.
//
// Source: RFC 2697 section 3.
func TokenBucketBytes(since time.Duration, line, rate, burst float64) float64 {
	return min(line*since.Seconds()/8, burst+rate*since.Seconds()/8)
}

// Departures returns when the last bit of each of several packets has left each of several links in a row, from the moment when the
// first bit of the first one leaves. The packets come back to back, each is whole on a link before it goes on to the next, and nothing
// else is on the way; propagation is left out. Sizes are in bytes, rates in bit/s. The first index is the packet.
//
// Source: Dovrolis, Ramanathan, Moore, "Packet-Dispersion Techniques and a Capacity-Estimation Methodology", 2004, section II.
func Departures(packets int, size float64, rates ...float64) [][]time.Duration {
	all := make([][]time.Duration, packets)
	free := make([]time.Duration, len(rates)) // when each link is
	for p := range all {
		var here time.Duration // when the packet is whole before the link
		for link, rate := range rates {
			here = max(here, free[link]) + SerializationDelay(size, rate)
			free[link] = here
			all[p] = append(all[p], here)
		}
	}
	return all
}

// QueueWaits returns how long each packet waits before a link that serves one after the other, by the gaps before each of them and the
// times that the link takes for each, in seconds. The first finds the link idle.
//
// Source: Lindley, "The theory of queues with a single server", 1952.
func QueueWaits(gaps, services []float64) []float64 {
	waits := make([]float64, len(gaps))
	for i := 1; i < len(gaps); i++ {
		waits[i] = max(0, waits[i-1]+services[i-1]-gaps[i])
	}
	return waits
}

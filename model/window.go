package model

import "time"

// BandwidthDelay returns the bandwidth-delay product in bytes: what must be in flight to keep a path of that rate (bit/s)
// and round-trip time full.
//
// Source: RFC 7323 section 1.1.
func BandwidthDelay(rate float64, rtt time.Duration) float64 {
	return rate * rtt.Seconds() / 8
}

// WindowLimit returns the highest rate in bit/s that a window of that many bytes allows: one window each round trip.
//
// Source: RFC 7323 section 1.1; tabulated in GridNM (2002), table 2.
func WindowLimit(window float64, rtt time.Duration) float64 {
	return window * 8 / rtt.Seconds()
}

// WindowNeeded returns the smallest window in bytes that allows that rate (bit/s): WindowLimit solved for the window, which is
// the bandwidth-delay product. Linux counts its bookkeeping against tcp_rmem too, so a buffer should be twice as large.
//
// Source: RFC 7323 section 1.1; tabulated in High Performance Data Transfer (2006), "Minimum TCP Window Sizes".
func WindowNeeded(rate float64, rtt time.Duration) float64 {
	return BandwidthDelay(rate, rtt)
}

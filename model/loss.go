package model

import (
	"math"
	"time"
)

// Constants C for Mathis and what follows from it. The model's form is firm; its constant depends on how losses fall and on
// how often the receiver acknowledges.
const (
	// CConservative is what the path diagnosis tools of the 2000s used (NPAD; High Performance Data Transfer, 2006): what a
	// TCP reaches with delayed acknowledgements and some time-outs.
	CConservative = 0.7
	// CIndependent is near what Linux reaches today under independent losses: 1.0 for CUBIC, 1.1 for Reno, measured at 1 %.
	CIndependent = 1.0
	// CPeriodic is sqrt(3/2), derived for evenly spaced losses and an acknowledgement for each packet.
	CPeriodic = 1.224744871391589
)

// Mathis returns the rate in bit/s that congestion control of the Reno family holds at a loss ratio: C * MSS / (RTT * sqrt(p)).
// p counts loss events: the losses of one round trip are one event. It is no bound where losses are so few that another
// limit binds (at p = 0 it is +Inf), and about a factor of 2 low where a test saw under ten losses.
//
// Source: Mathis, Semke, Mahdavi, Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", CCR 27(3), 1997.
func Mathis(mss float64, rtt time.Duration, p, c float64) float64 {
	return c * mss * 8 / (rtt.Seconds() * math.Sqrt(p))
}

// Budget is the loss that a transfer of a given rate can bear.
type Budget struct {
	WindowPackets    float64 // in flight at the rate
	RunLengthPackets float64 // packets from one loss to the next, at the least
	LossRatio        float64 // 1 / RunLengthPackets, at most 1
}

// LossBudget returns the most loss at which Mathis still gives the rate (bit/s): a run length of (W / (C * MSS))^2 packets, where W
// is the bandwidth-delay product in bytes.
//
// Source: Mathis solved for p; as NPAD (Mathis et al., PAM 2008) reports it.
func LossBudget(rate float64, rtt time.Duration, mss, c float64) Budget {
	window := BandwidthDelay(rate, rtt)
	run := math.Pow(window/(c*mss), 2)
	return Budget{WindowPackets: window / mss, RunLengthPackets: run, LossRatio: min(1, 1/run)}
}

// LongestRTT returns the longest round-trip time over which that rate (bit/s) survives a loss each runLength packets:
// C * 8 * MSS * sqrt(run length) / rate.
//
// Source: Mathis solved for RTT; NPAD gives it as "this path may pass with a less strenuous application".
func LongestRTT(rate, runLength, mss, c float64) time.Duration {
	return Seconds(c * 8 * mss * math.Sqrt(runLength) / rate)
}

// Padhye is the goodput of TCP in bit/s where a share p of its packets is lost, time-outs included: at more than some hundredths
// they cost more than the halving of windows that Mathis counts. An acknowledgement stands for one packet after losses, so b is 1, and
// the first time-out is a round trip and Linux's least of 200 ms (Padhye, Firoiu, Towsley, Kurose 1998, formula 30).
func Padhye(mss float64, rtt time.Duration, p float64) float64 {
	halvings, timeouts := PadhyeTimes(rtt, p)
	return mss * 8 / (halvings + timeouts)
}

// PadhyeTimes are the seconds that each packet takes by Padhye: what it would with halved windows alone, and its share of time-outs.
func PadhyeTimes(rtt time.Duration, p float64) (halvings, timeouts float64) {
	trip := rtt.Seconds()
	const leastTimeout = 0.2 // s, of Linux
	return trip * math.Sqrt(2*p/3), (trip + leastTimeout) * min(1, 3*math.Sqrt(3*p/8)) * p * (1 + 32*p*p)
}

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

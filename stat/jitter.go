package stat

// Jitter is the running estimate of interarrival jitter of RFC 3550 section 6.4.1, which is that of RFC 1889 and what iperf3
// reports for UDP:
//
//	D = (R_j - S_j) - (R_i - S_i)     change of transit time from packet i to the next to arrive, j
//	J = J + (|D| - J) / 16
//
// Only differences of transit times count, so the two clocks may differ by any constant. The zero value is ready.
type Jitter struct {
	estimate float64
	last     float64
	started  bool
}

// Record adds the transit time (time of receipt less time of sending) of the next packet to arrive, and returns the
// new estimate, in the unit of transit.
func (j *Jitter) Record(transit float64) float64 {
	const gain = 1.0 / 16 // RFC 3550: good noise reduction at a reasonable rate of convergence
	if j.started {
		j.estimate += (max(transit-j.last, j.last-transit) - j.estimate) * gain
	}
	j.last, j.started = transit, true
	return j.estimate
}

// Value returns the estimate so far; 0 before the second packet.
func (j *Jitter) Value() float64 { return j.estimate }

package stat

import "math"

// Passage is one packet that tried whether there is connectivity, by any clock in seconds. Of one way it is when the packet was sent and when it
// arrived at the far end; of both ways, when a request was sent and when its answer arrived back, which is how RFC 2678 section 6.6
// tests two-way connectivity.
type Passage struct {
	Sent    float64
	Arrived float64 // Lost: it did not arrive, or not within the time that the test waits
}

// Made says whether the packet arrived: the Instantaneous-Unidirectional-Connectivity of RFC 2678 section 2.4 at the moment in which it was sent.
// Of passages of both ways it is the definition of section 3.5.
func (p Passage) Made() bool { return !math.IsNaN(p.Arrived) }

// Connected is the Interval-Unidirectional-Connectivity of RFC 2678 section 4.4 from one moment to another, both included: whether a packet
// that was sent in that time arrived, then or later. Of passages of both ways it is the measured value of section 6.6.3. known is false
// where no packet was sent in that time: then nothing is known.
func Connected(passages []Passage, from, to float64) (connected, known bool) {
	for _, p := range passages {
		if p.Sent >= from && p.Sent <= to {
			known = true
			connected = connected || p.Made()
		}
	}
	return connected, known
}

// ConnectedBothWays is the Interval-Bidirectional-Connectivity of RFC 2678 section 5.4, of passages that went there and others that went
// back: each way had connectivity at some moment of that time, though an answer need not have been possible. known is as for Connected, of both.
func ConnectedBothWays(there, back []Passage, from, to float64) (connected, known bool) {
	forward, knownForward := Connected(there, from, to)
	reverse, knownReverse := Connected(back, from, to)
	return forward && reverse, knownForward && knownReverse
}

// ConnectedInTurn is the Interval-Temporal-Connectivity of RFC 2678 section 6.4: a packet arrived at the far end, and another left there no
// sooner and arrived back, all within that time. The clock of all passages is one, or the offset between two has been taken out. known is as
// for ConnectedBothWays.
func ConnectedInTurn(there, back []Passage, from, to float64) (connected, known bool) {
	_, known = ConnectedBothWays(there, back, from, to)
	first := math.Inf(1) // arrival at the far end
	for _, p := range there {
		if p.Sent >= from && p.Arrived <= to {
			first = min(first, p.Arrived)
		}
	}
	for _, p := range back {
		if p.Sent >= max(from, first) && p.Arrived <= to {
			return true, known
		}
	}
	return false, known
}

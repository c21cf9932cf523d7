package diagnose

import "github.com/pathwise-net/pathwise/measure"

// Corrupted is how many packets of a transfer came with bits that were turned over, as the receiver's kernel counts.
const Corrupted Name = "corrupted"

// badCable: packets arrive damaged, and the receiver throws them away, so that to TCP they are lost. The receiver's counts tell it from
// packets that never arrive: checksums of TCP that are wrong, and frames whose check sequence its adapter found wrong. They count all
// that comes to that host, so most of what was lost must be among them.
var badCable = Rule{
	ID:    "bad-cable",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{Corrupted, Segments, Retransmits, MSS, EmptyRoundTrip},
	Apart: map[string]Name{"random-loss": Corrupted},
	Brings: []definition{{Name: Corrupted, Metric: "corrupted_packets", Unit: "packets", From: ofTransfer,
		Means: "came damaged to {receiver} in the meantime, by its kernel's count", Read: readCorrupted}},
	Replaces: []string{"random-loss", "burst-loss"},
	Look: func(s *Subject) *Claim {
		corrupted := s.Value(Corrupted)
		if min(corrupted, s.Value(Retransmits)) < enoughLosses || corrupted < mostCorrupted*s.Value(Retransmits) {
			return nil
		}
		p := corrupted / s.Value(Segments)
		c := &Claim{
			Where: OnPath, Confidence: lossConfidence(s),
			Evidence: []Name{Corrupted, Retransmits, LoadedRoundTrip, Steady, Allowed},
			Advice:   []string{"link", "bbr"},
			Words:    map[string]string{"loss": inText(p, "ratio")},
			Allows:   lossAllows(s, p),
			Calc:     lossCall(s, p),
			Gone:     []limit{byLoss},
		}
		if lossBlind(s.congestion) { // it is there, but does not slow this sender
			c.Severity, c.Unpredicted, c.Advice, c.Allows, c.Calc = measure.Info, true, c.Advice[:1], s.Value(Steady), ""
		}
		return c
	},
}

// mostCorrupted is the share of what was sent again that must have come damaged: what slow start itself makes a queue lose is sent
// again as well.
const mostCorrupted = 0.5

// readCorrupted reads the larger of two counts of the same packets: an adapter that throws a frame away shows TCP nothing.
func readCorrupted(s *Subject, r *measure.Result) (float64, bool) {
	end := r.Samples.Find(s.Name, measure.Receiver)
	if end == nil {
		return 0, false
	}
	corrupted := max(end.Counts["Tcp.InCsumErrors"], end.Counts["link.rx_crc_errors"]+end.Counts["link.rx_frame_errors"])
	return float64(corrupted), corrupted > 0
}

package diagnose

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// randomLoss: packets get lost although no queue is full. TCP takes each loss for congestion and slows down.
//
// A queue that overflows loses packets too, but first it stands, and the round trip shows it; and a probe that fills
// a small part of the path only loses what is lost at random.
func randomLoss(v *view) *claim {
	p := v.lossRatio()
	if p == 0 || v.sentSegments == 0 || v.paced != nil && !v.pacedKeeps(p) {
		return nil
	}
	queue := "no queue stands"
	if v.loadedRTT > emptyQueue*v.baseRTT {
		if v.paced == nil {
			return nil
		}
		queue = "a queue stands as well"
	}
	allows := model.Mathis(v.mss, seconds(v.baseRTT), p, model.CIndependent)
	f := &measure.Finding{ID: "random-loss", Severity: measure.Problem, Where: v.where(),
		Confidence: v.lossConfidence(),
		Evidence: []measure.Evidence{
			evidence("retransmits_packets", v.resent, "packets", fmt.Sprintf("sent again, of %.0f: %s", v.sentSegments,
				quantity.FormatRatio(v.resent/v.sentSegments))),
			evidence("rtt_seconds", v.loadedRTT, "s", fmt.Sprintf("round trip under load; %s on the empty path: %s",
				quantity.FormatSeconds(v.baseRTT), queue)),
			evidence("throughput_bits_per_second", v.steady, "bit/s", fmt.Sprintf("achieved; the Mathis formula gives %s for this loss",
				quantity.FormatRate(allows))),
		},
		Explanation: fmt.Sprintf("About %s of the packets are lost on the way although the path is not busy: TCP takes loss for "+
			"congestion and halves its rate each time, and needs many round trips of %s to come back. A bad cable or connector, dirty "+
			"fibre, a failing port or a radio link are the usual causes.", quantity.FormatRatio(p), quantity.FormatSeconds(v.baseRTT)),
		Advice: []measure.Advice{
			{Host: v.where(), Why: "look for the link whose error counters rise (CRC, input errors), and replace its cable, optics or port; " +
				"measure each half of the path to find it"},
			{Host: v.sender, Command: "sysctl -w net.ipv4.tcp_congestion_control=bbr",
				Why: "until then: BBR does not take single losses for congestion"},
		},
		Predicted: v.next(byLoss),
	}
	if lossBlind(v.congestion) { // it is there, but does not slow this sender
		f.Severity, f.Predicted, f.Advice = measure.Info, nil, f.Advice[:1]
		allows = v.steady
	}
	if v.paced != nil {
		f.Evidence = append(f.Evidence, evidence("loss_ratio", v.paced.lost/v.paced.sent, "ratio",
			fmt.Sprintf("%.0f of %.0f lost by a probe of only %s: congestion is not the cause", v.paced.lost, v.paced.sent,
				quantity.FormatRate(v.paced.rate))))
	}
	return &claim{f, allows}
}

// emptyQueue is the ratio of loaded to empty RTT below which no queue stands in the path.
const emptyQueue = 1.25

// pacedKeeps reports whether what the paced probe lost agrees with a loss ratio of p: at least one, and no fewer than
// the 1 in 100 chance of a Poisson count, by its normal approximation.
func (v *view) pacedKeeps(p float64) bool {
	expected := p * v.paced.sent
	return v.paced.lost >= max(1, expected-2.33*math.Sqrt(expected)) // 2.33: the 1 % point of the normal law
}

// lossConfidence grows with how many losses were seen.
func (v *view) lossConfidence() float64 {
	losses := v.resent
	if v.paced != nil {
		losses += v.paced.lost
	}
	return confidence(1 - 1/math.Sqrt(1+losses))
}

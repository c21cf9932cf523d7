package diagnose

import (
	"math"
	"strconv"
)

// wanBitErrors: large packets are lost far more often than small ones, at the same rate and at the same times. Each bit of a line may be turned over, and a packet
// with one such bit is thrown away, so that a packet of 1400 bytes is lost as often as 15 of 92. A module that fails, a radio link that fades or a box that drops
// takes packets of all sizes alike.
var wanBitErrors = Rule{
	ID:       "wan-bit-errors",
	Of:       OfWay,
	Needs:    []Name{LargeSent, LargeLost, SmallSent, SmallLost, Retransmits, Segments, MSS, EmptyRoundTrip},
	Reads:    []Name{FlowsChance, Corrupted},
	Apart:    map[string]Name{"random-loss": SmallLost, "burst-loss": SmallLost},
	Suspect:  losesForNoQueue,
	Replaces: []string{"random-loss", "burst-loss"},
	Look: func(s *Subject) *Claim {
		large := count{s.Value(LargeSent), s.Value(LargeLost)}
		small := count{s.Value(SmallSent), s.Value(SmallLost)}
		if inFragments(s) || large.lost < enoughLarge || small.sent == 0 || s.Known(FlowsChance) && s.Value(FlowsChance) <= rareChance || !pacedLost(s) {
			return nil
		}
		alike := large.lost / large.sent * small.sent // that would be lost if size made no difference
		if small.lost > smallShare*alike || small.lost >= max(1, poissonLow(alike)) {
			return nil
		}
		p := large.lost / large.sent
		return &Claim{
			Where: OnPath, Confidence: 0.9,
			Evidence: []Name{LargeLost, SmallLost, PacedLoss, Retransmits, ResentShare, Steady, Allowed},
			Advice:   append([]string{"line"}, s.common.bbr()...),
			Words: map[string]string{"loss": inText(p, "ratio"), "small_loss": inText(small.lost/small.sent, "ratio"),
				"errors": strconv.FormatFloat(-math.Log1p(-p)/(8*(largePayload+pacedHeaders)), 'e', 0, 64)},
			Allows: lossAllows(s, p),
			Calc:   lossCall(s, p),
			Gone:   []limit{byLoss},
		}
	},
}

// inFragments reports whether large packets may travel in several fragments, each of which can be lost: TCP's own are far smaller.
func inFragments(s *Subject) bool { return s.Value(MSS) < largePayload/2 }

// smallShare is the most that small packets lose, of what large ones do, where bits are turned over: 92 of 1428 bytes are 6 %, and what is lost for other reasons
// comes on top.
const smallShare = 1.0 / 3

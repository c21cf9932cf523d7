package diagnose

import (
	"maps"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// noTransfer says that nothing could be measured of how fast the path is, and what answered.
var noTransfer = Rule{
	ID:    "no-transfer",
	Of:    OfPath,
	Reads: []Name{Pings, Answers, EmptyRoundTrip, FullEchoes, FullAnswers},
	Brings: []definition{
		{Name: FullEchoes, Metric: "sent_packets", Unit: "packets", Means: "pings of full size", From: ofPing, Read: fullEchoes(measure.SentPackets),
			Step: manyEchoes},
		{Name: FullAnswers, Metric: "received_packets", Unit: "packets", Means: "answers to {full_echoes} pings of full size", From: ofPing,
			Read: fullEchoes(measure.ReceivedPackets)},
	},
	Suspect: func(s *Subject) bool { return s.failed != "" && s.Value(Answers) > 0 },
	Look: func(s *Subject) *Claim {
		if s.failed == "" {
			return nil
		}
		c := &Claim{
			Severity: measure.Info, Where: AtTarget, Confidence: 0.9,
			Evidence: []Name{Pings, Answers, EmptyRoundTrip},
			Says:     []string{"main", "answers"}, Words: map[string]string{"why": sentence(s.failed)},
			Advice: []string{"respond"}, Unpredicted: true,
		}
		if s.Value(Answers) == 0 {
			c.Says, c.Confidence = []string{"main", "silent"}, 0.5
		}
		if sent, lost := s.Value(FullEchoes), s.Value(FullEchoes)-s.Value(FullAnswers); sent > 0 && lost < sent {
			c.Evidence, c.Says = append(c.Evidence, FullAnswers), append(c.Says, "clean")
			if lost > 0 {
				c.Says[len(c.Says)-1] = "lossy"
			}
			c.Words = maps.Clone(c.Words)
			maps.Copy(c.Words, echoWords(s, sent, lost))
		}
		return c
	},
}

// Facts of pings that are as large as the packets of a transfer.
const (
	FullEchoes  Name = "full_echoes"
	FullAnswers Name = "full_answers"
)

const (
	echoSize     = 1400 // bytes of payload: fits any path that carries 1500 bytes and most tunnels
	echoCount    = 250  // that none of them is lost leaves less than 1.5 % of loss, at 95 %
	echoInterval = 0.02 // s between them: 570 kbit/s, which no link of today minds
)

// manyEchoes is what pings alone can tell of losses, where nothing else answers.
func manyEchoes(*Subject) (Step, bool) {
	return Step{Name: "echoes", Kind: "ping", Why: "how many packets of full size are lost, where nothing else answers",
		Parameters: map[string]any{"count": echoCount, "interval": echoInterval, "size": echoSize}, Seconds: echoCount*echoInterval + setUpTakes}, true
}

// fullEchoes reads a count of pings of full size that routers may cut.
func fullEchoes(m measure.Metric) func(*Subject, *measure.Result) (float64, bool) {
	return func(_ *Subject, r *measure.Result) (float64, bool) {
		if size, _ := r.Number("size"); size < echoSize || r.Parameters["df"] == true {
			return 0, false
		}
		return r.Get(m)
	}
}

// echoWords say what pings of full size lost, and what one connection of TCP could have at most if that is lost on one way.
func echoWords(s *Subject, sent, lost float64) map[string]string {
	low, high := stat.Wilson(int(lost), int(sent))
	words := map[string]string{"sent": format(sent, ""), "lost": format(lost, ""), "low": inText(low, "ratio"), "high": inText(high, "ratio")}
	if trip := s.Value(EmptyRoundTrip); lost > 0 && trip > 0 {
		words["most"] = quantity.FormatRate(model.Mathis(echoSize, seconds(trip), lost/sent, model.CIndependent))
	}
	return words
}

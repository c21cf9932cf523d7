package diagnose

import "github.com/pathwise-net/pathwise/measure"

// How long nothing came through at a stretch, in seconds.
const (
	TransferSilence Name = "transfer_silence"
	PingSilence     Name = "ping_silence"
)

// outage: for a while nothing came through, and the sender waited for its timer, which is doubled each time. A transfer may have been silent in its
// first part alone, which its steady rate leaves out, or lose packets besides; then pings must have been silent, too.
var outage = Rule{
	ID:       "outage",
	Of:       OfWay,
	In:       []State{Slow, Full},
	Needs:    []Name{TimerShare, LateSegments, LateRetransmits, Steady},
	Reads:    []Name{LossPeriod, PacedRate, Goodput, PayloadCapacity, Duration, TransferSilence, PingSilence},
	Apart:    map[string]Name{"random-loss": LateRetransmits},
	Replaces: []string{"cross-traffic"},
	Brings: []definition{
		{Name: TransferSilence, Metric: "silence_seconds", Unit: "s", Means: "the longest that nothing was acknowledged of what was under way",
			From: ofTransfer, Read: transferSilence},
		{Name: PingSilence, Metric: string(measure.OutageLongest), Unit: "s", Means: "the longest that no ping was answered, where others were",
			From: ofPing, Read: func(s *Subject, r *measure.Result) (float64, bool) {
				longest, told := r.Get(measure.OutageLongest)
				// Where none is answered, it may be echoes, or those of this size or mark, that are not let through.
				some := r.Metrics[measure.ReceivedPackets] > 0 && r.Parameters["df"] != true && !marked(r)
				return longest, told && some && longest >= s.Value(PingSilence) // of all pings
			}},
	},
	Look: func(s *Subject) *Claim {
		if silentTwice(s) {
			return &Claim{
				Where: OnPath, Confidence: 0.8, Says: []string{"early"},
				Evidence: []Name{TransferSilence, PingSilence, Goodput, Steady},
				Advice:   []string{"flap"},
				Allows:   min(s.Value(Goodput), s.Value(Steady)),
				Gone:     []limit{byLoss},
				Beyond:   true, // the steady rate, by which the path is full, is that of the time behind it
			}
		}
		if s.Value(TimerShare) <= othersSilence || s.Value(LateRetransmits) > outageLoses*s.Value(LateSegments) && silence(s) < leastSilent {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.8,
			Evidence: []Name{TimerShare, LateRetransmits, Steady, Goodput},
			Advice:   []string{"flap"},
			Allows:   s.Value(Steady), // it depends on how long it lasts
			Gone:     []limit{byLoss}, // what a paced probe lost, it lost to the silence
		}
	},
}

// silentTwice reports whether both a transfer and the pings before it met a silence that takes a good part of the transfer, which got much less
// than the path carries. One alone may be a queue that overflowed as the transfer began. Nothing but an outage was seen to be silent for both, and a
// probe would meet it, too, so that what it loses tells nothing.
func silentTwice(s *Subject) bool {
	return s.Value(TransferSilence) >= max(leastSilent, othersSilence*s.Value(Duration)) && s.Value(PingSilence) >= leastSilent &&
		s.Known(PayloadCapacity) && s.Value(Goodput) < fullShare*s.Value(PayloadCapacity)
}

// transferSilence reads the longest time in which nothing was acknowledged of what was under way.
func transferSilence(s *Subject, r *measure.Result) (longest float64, told bool) {
	all := samples(s, r, measure.Sender)
	since := 0
	for i, one := range all {
		if one.Values["bytes_acked"] != all[since].Values["bytes_acked"] || one.Values["unacked_packets"] == 0 {
			since = i
		}
		longest = max(longest, one.ElapsedSeconds-all[since].ElapsedSeconds)
	}
	return longest, len(all) > 0
}

// silence is how long a paced probe lost all that it sent, on average over its runs of losses, in seconds; 0: it lost nothing.
func silence(s *Subject) float64 {
	if s.Value(PacedRate) == 0 {
		return 0
	}
	return s.Value(LossPeriod) * pacedBytes * 8 / s.Value(PacedRate)
}

// leastSilent is the silence of a path, in seconds, that is none of single losses or short bursts: the least that Linux waits for its timer.
const leastSilent = 0.2

// outageLoses is the share of packets that a transfer loses beside one silence: those that were under way when it began. A link that
// loses all the time loses more.
const outageLoses = 0.02

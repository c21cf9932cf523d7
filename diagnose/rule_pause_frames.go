package diagnose

import "github.com/pathwise-net/pathwise/measure"

// Frames of Ethernet by which one end of a link has the other one pause (IEEE 802.3 annex 31B), while a transfer ran.
const (
	PausesCame Name = "pauses_came" // to the sender
	PausesSent Name = "pauses_sent" // by the receiver
)

// pauseFrames: a switch, or the receiver's adapter, is short of buffers and has the sender's end of its link pause, again and again. Nothing
// is lost, and all flows of that link wait, also those that go elsewhere. Only the adapters count it: to a path with none at its ends, it is a
// link that carries less.
var pauseFrames = Rule{
	ID:    "pause-frames",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{Steady, Duration, ResentShare},
	Reads: []Name{PausesCame, PausesSent, PayloadCapacity, LoadedRoundTrip, EmptyRoundTrip, ReceiveWindowShare, SendBufferShare, RoomShare},
	Brings: []definition{
		{Name: PausesCame, Metric: "rx_pause_packets", Unit: "packets", From: ofTransfer,
			Means: "pause frames that came to {sender} meanwhile, as its adapter counts", Read: pauses(measure.Sender, "link.rx_pause")},
		{Name: PausesSent, Metric: "tx_pause_packets", Unit: "packets", From: ofTransfer,
			Means: "pause frames that {receiver} sent meanwhile, as its adapter counts", Read: pauses(measure.Receiver, "link.tx_pause")},
	},
	Apart:    map[string]Name{"cross-traffic": PausesCame},
	Replaces: []string{"cross-traffic"},
	Look: func(s *Subject) *Claim {
		came, sent := s.Value(PausesCame), s.Value(PausesSent)
		if max(came, sent) < manyPauses*s.Value(Duration) || s.Value(ResentShare) >= fewResent || heldBy(s) != "" {
			return nil
		}
		c := &Claim{
			Where: AtSender, Confidence: 0.7,
			Evidence: []Name{PausesCame, PausesSent, Steady, PayloadCapacity, LoadedRoundTrip},
			Advice:   []string{"switch", "off"},
			Allows:   s.Value(Steady), // how long each pause lasted is not counted
		}
		if sent > came {
			c.Where, c.Says, c.Advice = AtReceiver, []string{"receiver"}, []string{"reader", "off-there"}
		}
		if s.Value(PayloadCapacity) == 0 || s.Value(PayloadCapacity) < pausesGain*s.Value(Steady) {
			c.Severity, c.Unpredicted = measure.Info, true // what is gained without them is not known, or less than a tenth
		}
		return c
	},
}

const (
	// manyPauses is how many pause frames a second make a difference: the longest pause is 65,535 times 512 bits, 34 ms of 1 Gbit/s (IEEE
	// 802.3 annex 31B.2), so that ten take up to a third of it.
	manyPauses = 10
	// pausesGain is how many times the goodput must be missing for a problem.
	pausesGain = 1.1
)

// pauses reads a count of pause frames at one end.
func pauses(end, count string) func(*Subject, *measure.Result) (float64, bool) {
	return func(s *Subject, r *measure.Result) (float64, bool) {
		e := r.Samples.Find(s.Name, end)
		if e == nil {
			return 0, false
		}
		return float64(e.Counts[count]), e.Counts[count] > 0
	}
}

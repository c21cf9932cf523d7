package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// bufferbloat: a transfer fills a queue that holds far more than it needs, and everybody's packets wait in it. The transfer itself is
// none the slower, so the path is healthy for it. Where packets went beside the transfer they tell what others wait; the transfer's own tell it
// else, which where flows have queues of their own is more than others meet.
var bufferbloat = Rule{
	ID:    "bufferbloat",
	Of:    OfWay,
	In:    []State{Full},
	Needs: []Name{LoadedRoundTrip, EmptyRoundTrip, Steady},
	Reads: []Name{BesideRoundTrip},
	Brings: []definition{{Name: BesideRoundTrip, Metric: string(measure.LoadedRTTMedian), Unit: "s",
		Means: "round trip of small packets beside the transfer; {empty_round_trip} on the empty path", From: ofTransfer, Read: besideTransfer}},
	Look: func(s *Subject) *Claim {
		seen := LoadedRoundTrip
		if s.Known(BesideRoundTrip) {
			seen = BesideRoundTrip
		}
		queue := s.Value(seen) - s.Value(EmptyRoundTrip)
		if queue <= longQueue {
			return nil
		}
		return &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.8,
			Evidence: []Name{seen, EmptyRoundTrip, Steady},
			Words:    map[string]string{"queue": quantity.FormatSeconds(queue)},
			Advice:   []string{"queue", "bbr"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
	},
}

// BesideRoundTrip is what packets beside a transfer took, which is not known where the round trips under load are the transfer's own.
const BesideRoundTrip Name = "beside_round_trip"

func besideTransfer(_ *Subject, r *measure.Result) (value float64, told bool) {
	if r.Parameters["round_trips_by"] != "stamp" {
		return 0, false
	}
	return r.Get(measure.LoadedRTTMedian)
}

// longQueue is how much longer, in seconds, a round trip may take under load until people notice: a conversation bears 150 ms one way
// in all (ITU-T G.114), of which paths and programs take their share.
const longQueue = 0.1

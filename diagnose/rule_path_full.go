package diagnose

import (
	"github.com/pathwise-net/pathwise/analysis/dispersion"
	"github.com/pathwise-net/pathwise/measure"
)

// TrainsPass is how many trains of packets a way passed on as fast as they were sent: nothing on it was seen to be narrower than the sender.
const TrainsPass Name = "trains_pass"

// pathFull says that nothing is wrong: the narrowest link is used, or the path passes on all that the hosts send.
var pathFull = Rule{
	ID:    "path-full",
	Of:    OfWay,
	In:    []State{Full},
	Needs: []Name{Steady},
	Reads: []Name{PayloadCapacity, LoadedRoundTrip, EmptyRoundTrip, TrainsPass, RoomShare, Retransmits, Spurious, Sourced, AskedRate, ReceiveWindowShare,
		SendBufferShare, Capacity, Segments, IdleRoundTrip},
	Brings: []definition{{Name: TrainsPass, Metric: "trains_pass_count", Unit: "trains", Means: "trains of packets came as fast as they were sent",
		From: ofTrains, Read: readTrainsPass}},
	Look: func(s *Subject) *Claim {
		c := &Claim{Severity: measure.Info, Where: OnPath, Confidence: 0.9, Unpredicted: true,
			Evidence: []Name{Steady, Capacity, PayloadCapacity, LoadedRoundTrip}, Allows: s.Value(PayloadCapacity)}
		switch {
		case s.Known(PayloadCapacity):
		case hostsLimit(s):
			c.Says, c.Confidence, c.Allows, c.Where = []string{"hosts"}, 0.6, s.Value(Steady), AtEnds
			c.Evidence, c.Advice = []Name{Steady, TrainsPass, RoomShare, Retransmits, Spurious, LoadedRoundTrip}, []string{"reference"}
		default: // a queue stands, so what goes through is what the narrowest link lets through
			c.Says, c.Confidence, c.Allows = []string{"queue"}, 0.6, s.Value(Steady)
		}
		return c
	},
}

// readTrainsPass reads how many trains there were that told no capacity, for the path passed them on as fast as they were sent.
func readTrainsPass(_ *Subject, r *measure.Result) (float64, bool) {
	c := r.Samples.Capacity
	return float64(len(r.Samples.Trains)), c != nil && c.Capacity.Doubt == string(dispersion.Slow)
}

// hostsLimit reports whether the hosts are what limits a transfer of this diagnosis, on a path that was not seen to limit anything: trains passed as
// fast as they were sent, nothing was lost, no queue stands and no window or buffer is full, and the program, which writes as fast as it can, often
// left TCP room. A path that is narrower than the host keeps the send buffer full.
func hostsLimit(s *Subject) bool {
	own := s.Kind == OfWay && !s.Is(Sourced) && !s.Known(AskedRate)
	free := s.Value(ReceiveWindowShare) < binding && s.Value(SendBufferShare) < sendBinding
	lost := s.Value(Retransmits) - s.Value(Spurious)
	return own && free && s.Is(TrainsPass) && !s.Known(Capacity) && !queues(s) && !shared(s) && s.Known(LoadedRoundTrip) && s.Value(Steady) > 0 &&
		lost <= fewAreLost*s.Value(Segments) && s.Value(RoomShare) >= hostsPause
}

// hostsPause is the share of readings in which a program that writes as fast as its host lets it leaves TCP room. On paths of the kernel's own, of 3 to
// 17 Gbit/s, that is 0.45 to 0.98.
const hostsPause = 1.0 / 3

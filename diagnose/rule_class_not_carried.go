package diagnose

import (
	"maps"
	"slices"
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
)

// What becomes of packets with a mark (DSCP), beside what becomes of those without.
const (
	ClassMark      Name = "class_mark" // of pings
	ClassPings     Name = "class_pings"
	ClassAnswers   Name = "class_answers"
	ClassSent      Name = "class_sent" // of a slow probe by UDP
	ClassLoss      Name = "class_loss"
	TrainsSent     Name = "trains_sent" // packets of trains, which have no mark
	TrainsReceived Name = "trains_received"
)

// classNotCarried: packets with a mark are lost, and those without pass: a router has no room for that class, or a rule against it. A connection
// in the class opens late or never, and crawls.
//
// The transfer of a diagnosis in a class that nothing passes in fails before it begins, so that pings and trains are all that tells.
var classNotCarried = Rule{
	ID:    "class-not-carried",
	Of:    OfWay,
	Also:  []Kind{OfPath},
	In:    []State{Slow, Full, Dead, Other},
	Needs: []Name{ClassMark},
	Reads: []Name{ClassPings, ClassAnswers, Pings, Answers, ClassSent, ClassLoss, TrainsSent, TrainsReceived, PacedLoss, Capacity, Steady, MSS},
	Apart: map[string]Name{"random-loss": PacedLoss, "flow-slow-path": ClassLoss, "unexplained": ClassAnswers},
	Brings: []definition{
		{Name: ClassMark, Metric: "dscp", Unit: "code point", Means: "mark of the class that was asked for", From: ofPing, Read: ofClass("dscp")},
		{Name: ClassPings, Metric: string(measure.SentPackets), Unit: "packets", Means: "pings with the mark", From: ofPing,
			Read: ofClass(measure.SentPackets)},
		{Name: ClassAnswers, Metric: string(measure.ReceivedPackets), Unit: "packets", Means: "answers to {class_pings} pings with the mark", From: ofPing,
			Read: ofClass(measure.ReceivedPackets)},
		{Name: ClassSent, Metric: string(measure.SentPackets), Unit: "packets", Means: "of a slow probe with the mark", From: ofMarked,
			Read: ofClass(measure.SentPackets)},
		{Name: ClassLoss, Metric: string(measure.LossRatio), Unit: "ratio", Means: "lost of a slow probe of {class_sent} with the mark", From: ofMarked,
			Step: markedProbe, Read: ofClass(measure.LossRatio)},
		{Name: TrainsSent, Metric: string(measure.SentPackets), Unit: "packets", Means: "of trains, without the mark", From: ofTrains,
			Read: ofTrain(func(t measure.Train) int { return t.SentPackets })},
		{Name: TrainsReceived, Metric: string(measure.ReceivedPackets), Unit: "packets", Means: "of {trains_sent} in trains without the mark, which arrived",
			From: ofTrains, Read: ofTrain(func(t measure.Train) int { return t.ReceivedPackets })},
	},
	Suspect: func(s *Subject) bool {
		return s.Known(MarkSent) && !s.Is(Stuck) && (!s.Known(ClassSent) || s.Value(ClassLoss) >= classLost)
	},
	Replaces: []string{"cross-traffic", "flow-slow-path", "random-loss", "burst-loss", "outage", "policer", "shallow-buffer", "slow-start-limited"},
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Where: OnPath, Confidence: 0.9,
			Evidence: []Name{ClassMark, ClassLoss, ClassAnswers, Answers, TrainsReceived, PacedLoss, Steady},
			Advice:   []string{"ask", "where", "unmarked"},
			Words:    map[string]string{"mark": strconv.Itoa(int(s.Value(ClassMark)))},
			Allows:   s.Value(Steady), // what comes through of the class
		}
		plain, known := plainLoss(s)
		switch lost := s.Value(ClassLoss); {
		case s.Value(ClassSent) >= enoughMarked:
			if !known || lost < classLost || plain > lost/classWorse {
				return nil
			}
		case s.Kind == OfWay && !s.Is(Stuck), s.Value(ClassPings) < enoughMarked, s.Value(ClassAnswers) > 0, s.Value(Answers) < enoughMarked:
			return nil
		default: // an echo or its answer: which way is not known
			c.Says, c.Confidence = []string{"echoes"}, 0.8
		}
		if s.Kind == OfPath || s.Is(Stuck) {
			c.Cured = map[Name]float64{MSS: usualMSS, PayloadCapacity: s.Value(Capacity) * s.payloadShare(usualMSS)}
			c.Unpredicted = !s.Known(Capacity)
		}
		return c
	},
}

const (
	// classLost is the share of a slow probe that is lost in a class that does not get what it is told to have: a class is there to lose nothing,
	// and no path of the lab's faults that loses packets at random loses a tenth. classWorse is how many times less packets without the mark lose.
	classLost  = 0.1
	classWorse = 5
	// usualMSS is the payload of the packets of a connection over Ethernet, with time stamps, in bytes.
	usualMSS = 1448
)

// plainLoss is the share of packets without a mark that are lost: of a probe that is sent evenly, else of trains, which lose more where a queue is
// short; known is whether any were sent.
func plainLoss(s *Subject) (share float64, known bool) {
	if s.Known(PacedLoss) {
		return s.Value(PacedLoss), true
	}
	sent := s.Value(TrainsSent)
	return 1 - s.Value(TrainsReceived)/max(1, sent), sent > 0
}

// ofClass reads a number of a test whose packets had a mark.
func ofClass(m measure.Metric) func(*Subject, *measure.Result) (float64, bool) {
	return func(_ *Subject, r *measure.Result) (float64, bool) {
		if m == "dscp" {
			dscp, _ := r.Number("dscp")
			return dscp, marked(r)
		}
		value, told := r.Get(m)
		return value, told && marked(r)
	}
}

// ofTrain adds up a number of packets of trains.
func ofTrain(packets func(measure.Train) int) func(*Subject, *measure.Result) (float64, bool) {
	return func(_ *Subject, r *measure.Result) (sum float64, told bool) {
		for _, t := range r.Samples.Trains {
			sum += float64(packets(t))
		}
		return sum, len(r.Samples.Trains) > 0
	}
}

// WithMark returns a plan that also pings with a mark (DSCP), behind the pings without, so that each class is held against the other, and traces
// with it. 0: there is no mark.
func WithMark(plan []Step, dscp int) []Step {
	at := find(plan, "ping")
	if dscp == 0 || at < 0 {
		return plan
	}
	plan = slices.Clone(plan)
	if trace := find(plan, "trace"); trace >= 0 { // whose hops tell with which mark they got its packets
		plan[trace].Parameters = maps.Clone(plan[trace].Parameters)
		plan[trace].Parameters["dscp"] = float64(dscp)
	}
	return slices.Insert(plan, at+1, Step{Name: "marked-ping", Kind: "ping", Why: "what becomes of packets with DSCP " + strconv.Itoa(dscp),
		Parameters: map[string]any{"count": surveyPings, "interval": surveyInterval, "dscp": float64(dscp)}, Seconds: surveyPings*surveyInterval + setUpTakes})
}

// DropsClass reports whether no packet of the class that was asked for came through, and others did: what a transfer in it fails for is that.
func DropsClass(results []*measure.Result) bool {
	path := gather(results).path
	return path != nil && path.Known(ClassMark) && classNotCarried.Look(path) != nil
}

package diagnose

import (
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// Pings of the target by the other family of addresses, IPv4 or IPv6, than that of all other steps.
const (
	OtherPings   Name = "pings_of_other_family"
	OtherAnswers Name = "answers_of_other_family"
	OtherLeast   Name = "least_round_trip_of_other_family"
	OtherUsual   Name = "usual_round_trip_of_other_family"
)

// familySlower: the target has addresses of both families, and over one of them round trips take longer, or nothing answers. Programs take the
// family that their host prefers, which need not be the better one. No transfer of this diagnosis is slower for it, so that it is a remark.
//
// Where delays vary, or others' queues come and go, few pings of either family tell nothing: all of one must be slower than most of the other.
var familySlower = Rule{
	ID:    "family-slower",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{OtherPings, OtherAnswers, Answers, EmptyRoundTrip, IdleRoundTrip, Steady},
	Reads: []Name{OtherLeast, OtherUsual},
	Brings: []definition{
		{Name: OtherPings, Metric: "sent_packets", Unit: "packets", Means: "small pings of {receiver} by the other family"},
		{Name: OtherAnswers, Metric: "received_packets", Unit: "packets", Means: "answers to {pings_of_other_family} pings by the other family"},
		{Name: OtherLeast, Metric: string(measure.RTTMin), Unit: "s", Means: "round trip by the other family, at the least"},
		{Name: OtherUsual, Metric: string(measure.RTTMedian), Unit: "s", Means: "round trip by the other family, as a rule"},
	},
	Look: func(s *Subject) *Claim {
		if s.Name != measure.Forward || s.Value(Answers) == 0 { // it is one thing of both ways, and told once
			return nil
		}
		taken, other := familyNames(s.Address)
		c := &Claim{
			Severity: measure.Info, Where: AtTarget, Confidence: 0.8,
			Evidence: []Name{OtherAnswers, OtherLeast, OtherUsual, EmptyRoundTrip, IdleRoundTrip},
			Words:    map[string]string{"taken": taken, "other": other, "flag": "-" + other[len(other)-1:]},
			Advice:   []string{"trace"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		switch {
		case s.Value(OtherAnswers) == 0 && s.Value(OtherPings) >= otherCount:
			c.Says, c.Advice = []string{"silent"}, []string{"silent"}
		case takesLonger(s.Value(OtherLeast), s.Value(IdleRoundTrip)) && s.Value(OtherAnswers) > 0 && !shared(s):
		case takesLonger(s.Value(EmptyRoundTrip), s.Value(OtherUsual)) && s.Value(OtherAnswers) > 0 && !shared(s):
			c.Says, c.Words["flag"] = []string{"taken"}, "-"+taken[len(taken)-1:]
		default:
			return nil
		}
		return c
	},
}

const (
	// A round trip takes longer by another family if it does by more than a quarter, as where a queue stands, and by more than a tunnel in the
	// same town adds: 5 ms.
	familyShare = 1.25
	familyLeast = 0.005
	otherCount  = 5 // pings: of a path that loses a tenth of its packets all of them are lost once in 100,000 times
)

func takesLonger(least, usual float64) bool {
	return usual > 0 && least > familyShare*usual && least-usual > familyLeast
}

// familyNames are the family of an address, and the other one, as people call them.
func familyNames(address string) (taken, other string) {
	if strings.Contains(address, ":") {
		return "IPv6", "IPv4"
	}
	return "IPv4", "IPv6"
}

// WithFamily returns a plan that also pings the target by the other family of addresses that it has, after it was pinged by its own.
func WithFamily(plan []Step, other string) []Step {
	at := find(plan, "ping")
	if other == "" || at < 0 {
		return plan
	}
	asked := Step{Name: "other-family", Kind: "ping", Why: "whether the other family of addresses does as well", Seconds: otherCount*surveyInterval + setUpTakes,
		Parameters: map[string]any{"count": otherCount, "interval": surveyInterval, "family": other, "timeout": otherPatience}}
	return slices.Insert(slices.Clone(plan), at+1, asked)
}

// otherPatience is how long a ping of the other family may take, in seconds, of which nothing else depends.
const otherPatience = 1.0

// readOtherFamily takes what pings of the other family say, and reports whether they are such.
func (g *gathering) readOtherFamily(r *measure.Result) bool {
	family, _ := r.Parameters["family"].(string)
	switch {
	case g.family == "" || family == "":
		g.family = family
		return false
	case family == g.family:
		return false
	case r.Error != nil: // this host has no way there
		return true
	}
	g.each(r, func(s *Subject) {
		s.set(OtherPings, exactly(r.Metrics[measure.SentPackets], r))
		s.set(OtherAnswers, exactly(r.Metrics[measure.ReceivedPackets], r))
		s.setPositive(OtherLeast, r.Metrics[measure.RTTMin], r)
		s.setPositive(OtherUsual, r.Metrics[measure.RTTMedian], r)
	})
	return true
}

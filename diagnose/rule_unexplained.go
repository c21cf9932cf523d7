package diagnose

import (
	"math"
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
)

// unexplained admits that the path is slow and that no rule knows why.
var unexplained = Rule{
	ID:    "unexplained",
	Of:    OfWay,
	In:    []State{Slow, Dead},
	Last:  true,
	Needs: []Name{Steady},
	Reads: []Name{Stuck, PayloadCapacity, PassingSize, Retransmits, ResentShare, LateRetransmits, LateSegments, PacedLoss, PacedLost, PacedSent,
		HalfLoss, HalfSent, HalfPeriod, LossPeriod, LoadedRoundTrip, EmptyRoundTrip, FullLosses, ManyGoodput, OtherGoodput, Capacity, MSS},
	Brings: []definition{
		{Name: ManyGoodput, Metric: "throughput_bits_per_second", Unit: "bit/s", Means: "goodput of four connections together",
			From: ofMany, Read: func(_ *Subject, r *measure.Result) (float64, bool) { return r.Get(measure.Throughput) }, Step: manyStreams},
		{Name: OtherGoodput, Metric: "throughput_bits_per_second", Unit: "bit/s", Means: "goodput with another congestion control", Step: otherControl},
	},
	Suspect: func(s *Subject) bool {
		return s.Known(PayloadCapacity) && s.Value(Steady) < unexplainedShare*s.Value(PayloadCapacity)
	},
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Severity: measure.Warning, Where: OnPath, Confidence: 0.5,
			Evidence: []Name{Steady, Capacity, PayloadCapacity, ReceiveWindowShare, SendBufferShare, Retransmits},
			Advice:   []string{"again"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		switch {
		case s.Is(Stuck):
			c.Says = []string{"stuck"}
			if s.passed {
				c.Says = append(c.Says, "answered")
			}
		case !s.Known(PayloadCapacity) || s.Value(Steady) >= unexplainedShare*s.Value(PayloadCapacity):
			return nil
		case losesWithoutQueue(s) && !mostlyFull(s) && !losesOnlyBursts(s):
			c.Says, c.Advice = []string{"losses"}, []string{"longer"}
			c.Evidence = append(c.Evidence, ResentShare, FullLosses, PacedLoss, HalfLoss)
			c.Words = map[string]string{"enough": strconv.FormatFloat(math.Ceil(leastExpected/lossRatio(s)), 'f', 0, 64)}
		}
		compare(s, c)
		return c
	},
}

// compare adds what transfers of another sort got, as far as any was made.
func compare(s *Subject, c *Claim) {
	if len(c.Says) == 0 {
		c.Says = []string{"main"}
	}
	for _, other := range []struct {
		goodput          Name
		more, same, help string
	}{{ManyGoodput, "each", "together", "parallel"}, {OtherGoodput, "control", "", "control"}} {
		if !s.Known(other.goodput) {
			continue
		}
		c.Evidence = append(c.Evidence, other.goodput)
		text := other.same
		if s.Value(other.goodput) >= getsMore*s.Value(Steady) {
			text, c.Advice = other.more, append(c.Advice, other.help)
		}
		if text != "" {
			c.Says = append(c.Says, text)
		}
	}
}

// What another transfer gets where no cause is found: over several connections at once, and with another congestion control.
const (
	ManyGoodput  Name = "goodput_of_many"
	OtherGoodput Name = "goodput_of_other_control"
)

// manyStreams measures whether several connections together get more than one: what holds each by itself, as a window or a limit on single
// flows does, does not hold them all.
func manyStreams(s *Subject) (Step, bool) {
	return step("many", "throughput", s.Name, "whether several connections get more than one", comparedLasts+setUpTakes,
		map[string]any{"duration": comparedLasts, "length": surveyWrite, "parallel": manyConnections}), !s.Is(Stuck)
}

// otherControl measures whether a congestion control that takes losses in another way gets more.
func otherControl(s *Subject) (Step, bool) {
	other := "bbr"
	if lossBlind(s.congestion) {
		other = "cubic"
	}
	return step("other-control", "throughput", s.Name, "whether "+other+" gets more than "+s.congestion, comparedLasts+setUpTakes,
		map[string]any{"duration": comparedLasts, "length": surveyWrite, "cc": other}), !s.Is(Stuck) && s.congestion != ""
}

// otherControl reports whether a transfer was made with another congestion control than the one that the way is judged by: of one that was
// interrupted, of which the sender told nothing any more, by what was asked for.
func (s *Subject) otherControl(r *measure.Result) bool {
	control, _ := r.Parameters["cc"].(string)
	if end := r.Samples.Find(s.Name, measure.Sender); end != nil {
		control = end.CongestionControl
	}
	return s.Known(Stuck) && s.congestion != "" && control != "" && control != s.congestion
}

const (
	comparedLasts   = 4.0 // seconds: a transfer of half the usual length tells half as much again from the same
	manyConnections = 4.0 // as many as programs that copy in parallel commonly open
	// getsMore is how many times as much another transfer gets where it gets more: two of one path differ by less.
	getsMore = 1.5
)

// unexplainedShare is the share of what the path can carry below which a cause must be there, even if none is found.
// It is below fullShare so that a measured capacity may be off by a tenth.
const unexplainedShare = 0.7

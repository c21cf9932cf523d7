package diagnose

import (
	"math"
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// LossPeriod is how many packets in a row a paced probe lost, on average over the runs.
const LossPeriod Name = "loss_period"

// burstLoss: packets are lost in bursts, several in a row or close together, and none for long in between. TCP takes what it loses within
// a round trip for one sign of congestion, so it goes faster than as many single losses would let it.
//
// It is told by a probe on the nearly empty path, where no queue of ours can overflow. What counts are the packets lost right behind others:
// of single losses hardly any are. One long run alone is a silence of the whole path.
var burstLoss = Rule{
	ID:    "burst-loss",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{LossPeriod, PacedLoss, PacedLost, Steady, MSS, EmptyRoundTrip},
	Reads: []Name{PacedRate, LoadedRoundTrip, IdleRoundTrip, TimerShare},
	Brings: []definition{{Name: LossPeriod, Metric: string(measure.LossPeriodMean), Unit: "packets",
		Means: "lost one after another by that probe, on average", Step: runsProbe, From: ofPaced,
		Read: func(s *Subject, r *measure.Result) (float64, bool) {
			mean, told := r.Get(measure.LossPeriodMean)
			return mean, told && paced(s, r.Metrics[measure.SentRate])
		}}},
	Apart:    map[string]Name{"random-loss": LossPeriod, "shallow-buffer": PacedLost, "policer": PacedLoss, "outage": LossPeriod, "transaction-loss": LossPeriod},
	Suspect:  lossesMayHold,
	Replaces: []string{"random-loss"},
	Look: func(s *Subject) *Claim {
		lost, mean, p := s.Value(PacedLost), s.Value(LossPeriod), s.Value(PacedLoss)
		trip := seconds(s.Value(EmptyRoundTrip))
		single := model.Mathis(s.Value(MSS), trip, p, model.CIndependent) // what as many single losses would leave
		switch {
		case mean < burstPeriod, lost-lost/mean < enoughLosses, p > burstsLose:
			return nil
		case lost < burstRuns*mean, silence(s) > leastSilent:
			return nil
		case s.Value(Steady) < burstFaster*single && !(mean >= plainPeriod && lost >= plainRuns*mean), s.Value(LoadedRoundTrip) > othersFill*s.Value(EmptyRoundTrip), shared(s):
			return nil
		}
		c := &Claim{
			Where: OnPath, Confidence: confidence(1 - 1/math.Sqrt(1+lost-lost/mean)),
			Evidence: []Name{PacedLoss, LossPeriod, Retransmits, ResentShare, LoadedRoundTrip, Steady, Allowed},
			Advice:   []string{"link", "again"},
			Words: map[string]string{"loss": inText(p, "ratio"), "mean": strconv.FormatFloat(mean, 'f', 1, 64),
				"runs": strconv.FormatFloat(lost/mean, 'f', 0, 64), "single": inText(single, "bit/s")},
			Allows: burstsAllow(s, p, mean),
			Gone:   []limit{byLoss},
		}
		if c.Allows == lossAllows(s, p/mean) {
			c.Calc = lossCall(s, p/mean)
		}
		if lossBlind(s.congestion) { // it is there, but does not slow this sender
			c.Severity, c.Unpredicted = measure.Info, true
		}
		return c
	},
}

// oneRun reports whether a paced probe lost several packets, all of them in one run: one burst, or an accident.
func oneRun(s *Subject) bool {
	lost, mean := s.Value(PacedLost), s.Value(LossPeriod)
	return mean >= burstPeriod && lost < burstRuns*mean
}

// halfRuns reports whether a probe at half of the capacity lost packets in runs, too few for a policer, and a paced one met none of them.
func halfRuns(s *Subject) bool {
	lost, mean := s.Value(HalfLoss)*s.Value(HalfSent), s.Value(HalfPeriod)
	return mean >= burstPeriod && lost >= burstRuns*mean && s.Value(HalfLoss) < policed && s.Value(PacedLost) == 0
}

// runsProbe measures what gets lost on a path that is nearly empty: where a paced probe met one run of losses, or one at half of the capacity
// some, a longer one meets several, if they come again.
func runsProbe(s *Subject) (Step, bool) {
	if !s.Known(PacedLoss) {
		return pacedProbe(s)
	}
	if !oneRun(s) && !halfRuns(s) || silence(s) > leastSilent || full(s) {
		return Step{}, false
	}
	rate := max(s.Value(PacedRate), min(s.Value(Steady)/2, pacedMost*max(s.Value(Capacity), s.Value(Steady))))
	lasts := min(max(moreRuns*s.Value(PacedSent)*pacedBytes*8/rate, pacedShortest), pacedLongest)
	return step("runs", "throughput", s.Name, "whether packets are lost in runs, again and again", lasts+setUpTakes,
		map[string]any{"proto": "udp", "rate": float64(int64(rate)), "duration": lasts, "length": pacedBytes}), true
}

// burstsAllow is the goodput that bursts leave. A run is at most one sign of congestion, and several that lie within a round trip are one
// together. Where runs take most of a window, TCP waits for its timer, and again for twice as long if the packet that it then sends is lost
// as well: no formula says how long, and the kernel does.
func burstsAllow(s *Subject, p, mean float64) float64 {
	if s.Value(TimerShare) >= timerWaits {
		return s.Value(Steady)
	}
	return max(s.Value(Steady), lossAllows(s, p/mean))
}

const (
	// plainPeriod and plainRuns are runs of losses that speak for themselves, however fast TCP is: five of two packets, where of as many
	// single losses one in ten lies beside another.
	plainPeriod = 2
	plainRuns   = 5
	// timerWaits is the share of the samples in which TCP waits for its timer, from which on that is what makes it slow.
	timerWaits = 0.3
	// burstPeriod is the mean run of losses, in packets, from which on they come in bursts. Of packets that are each lost for themselves,
	// one in ten at the most, it is 1.1; a part that loses half of them while it is in a bad state makes runs of 2.
	burstPeriod = 1.5
	// burstRuns is in how many runs the probe must lose, each shorter than a silence that is an outage: see leastSilent.
	burstRuns = 2
	// moreRuns is how many times the packets of a probe that met one run another one sends: where a run was due once, it meets two or more
	// with a chance of 96 %.
	moreRuns = 5
	// burstFaster is how many times faster TCP is than the formula for as many single losses says. Where losses are single, it gets 0.7 to 1.3
	// times that; with bursts of five, in the lab, 1.9 to 4.
	burstFaster = 1.4
	// burstsLose is the largest share that bursts lose here. Where more is lost, something else drops what is above a low rate, in runs, too.
	burstsLose = 0.3
)

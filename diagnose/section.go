package diagnose

import (
	"fmt"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// Target is what a path is to carry as a part of a longer one: a rate of TCP payload in bit/s, over the round trip of the whole.
type Target struct {
	Rate float64
	RTT  time.Duration
}

// Section says whether a path would pass as a part of the path of a Target, by what was measured on it alone: with one connection of
// today's TCP, whose window must hold what is on its way, and which bears few losses where that is much.
//
// Source: RFC 8337; NPAD (Mathis, Heffner, O'Neil, Siemsen, Pathdiag: Automated TCP Diagnosis, PAM 2008).
type Section struct {
	RateBitsPerSecond float64 `json:"rate_bits_per_second"`
	RTTSeconds        float64 `json:"rtt_seconds"`
	Outcome           Outcome `json:"outcome"` // the worst of the checks
	Checks            []Check `json:"checks"`
	// The nearest targets that the losses so far would let pass: the same rate over a shorter round trip, and a lower rate over the
	// same one. nil: nothing was lost, or nothing is known.
	NearestRTTSeconds        *float64 `json:"nearest_rtt_seconds"`
	NearestRateBitsPerSecond *float64 `json:"nearest_rate_bits_per_second"`
}

// Outcomes of a Section and its checks, beside Untold.
const (
	Passes Outcome = "pass"
	Fails  Outcome = "fail"
)

// Check is one thing that a Section must have.
type Check struct {
	Name    string           `json:"check"`
	Way     measure.Way      `json:"way"`
	Outcome Outcome          `json:"outcome"`
	Value   float64          `json:"value"`
	Needed  float64          `json:"needed"`
	Unit    string           `json:"unit"`
	Means   string           `json:"means"`
	Advice  []measure.Advice `json:"advice"`
}

const (
	// sectionBytes is the payload of the packets that look for losses: that of TCP on Ethernet.
	sectionBytes = 1400
	// sectionReserve is how many times the packets that suffice without a loss are sent, so that one loss does not leave it open.
	sectionReserve = 2.0
	// sectionLongest is how long losses are looked for, in seconds: one sits before it, and longer tells no more per second.
	sectionLongest  = 30.0
	sectionShortest = 2.0
	// keeps is how many windows a kernel's buffer must hold: it counts its own bookkeeping as well (socket(7)).
	keeps = 2
)

// SectionSteps are the steps that tell beyond a diagnosis whether a path would pass: packets at the target's rate, each way that it can
// carry, for as long as it takes to tell how often one is lost, or sectionLongest.
func SectionSteps(t Target, results []*measure.Result) (steps []Step) {
	for _, s := range gather(results).subjects() {
		if s.Kind != OfWay || s.Is(Stuck) || s.Known(PayloadCapacity) && s.Value(PayloadCapacity) < t.Rate {
			continue
		}
		packets := sectionReserve * model.NewRunLengthTest(max(runLength(t, s), leastRun)).Enough(0)
		lasts := min(max(packets*sectionBytes*8/t.Rate, sectionShortest), sectionLongest)
		steps = append(steps, step("target", "throughput", s.Name, "how many packets are lost at the rate of the target", lasts+setUpTakes,
			map[string]any{"proto": "udp", "rate": float64(int64(t.Rate)), "duration": math.Ceil(lasts), "length": sectionBytes}))
	}
	return steps
}

// leastRun is the shortest run length that is tested: below it, four times as many losses would be more than all packets.
const leastRun = 12

// runLength is how many packets must pass from loss to loss.
func runLength(t Target, s *Subject) float64 {
	return model.TargetRunLength(t.Rate, t.RTT, segment(s))
}

// segment is the payload of the packets that TCP sends on a way.
func segment(s *Subject) float64 {
	if mss := s.Value(MSS); mss > 0 {
		return mss
	}
	return sectionBytes
}

// JudgeSection says whether a path would pass, from the Results of a diagnosis and of SectionSteps.
func JudgeSection(t Target, results []*measure.Result) *Section {
	all := &Section{RateBitsPerSecond: t.Rate, RTTSeconds: t.RTT.Seconds(), Outcome: Untold, Checks: []Check{}}
	for _, s := range gather(results).subjects() {
		if s.Kind != OfWay {
			continue
		}
		losses := all.checkLosses(t, s)
		for _, c := range []Check{checkRate(t, s), losses, checkQueue(t, s, results, losses.Outcome), checkReceiver(t, s), checkSender(t, s),
			checkOptions(t, s)} {
			c.Way = measure.Way(s.Name)
			if c.Advice == nil {
				c.Advice = []measure.Advice{}
			}
			all.Checks = append(all.Checks, c)
		}
	}
	all.Outcome = worst(all.Checks)
	return all
}

// worst returns Fails if any check fails, else Untold if any check could not be made or there is none, else Passes.
func worst(checks []Check) Outcome {
	outcome := Passes
	for _, c := range checks {
		switch {
		case c.Outcome == Fails:
			return Fails
		case c.Outcome == Untold:
			outcome = Untold
		}
	}
	if len(checks) == 0 {
		return Untold
	}
	return outcome
}

// atLeast is a check of a value that must be as large as what is needed; unknown where there is none.
func atLeast(name, unit string, s *Subject, fact Name, needed float64, means string) Check {
	c := Check{Name: name, Unit: unit, Needed: needed, Value: s.Value(fact), Means: means, Outcome: Untold}
	switch {
	case !s.Known(fact):
		c.Means += "; it is not known: " + s.Fact(fact).Unknown
	case c.Value >= needed:
		c.Outcome = Passes
	default:
		c.Outcome = Fails
	}
	return c
}

func checkRate(t Target, s *Subject) Check {
	c := atLeast("rate", "bit/s", s, PayloadCapacity, t.Rate, "what the narrowest link carries of TCP's payload")
	if c.Outcome == Untold && s.Value(Steady) >= t.Rate {
		c.Outcome, c.Value, c.Means = Passes, s.Value(Steady), "what a transfer reached"
	}
	return c
}

// checkLosses counts what was lost of packets that were sent at no more than the target's rate, and at half of it at least: what a
// queue drops at higher rates is no fault of the path.
func (all *Section) checkLosses(t Target, s *Subject) Check {
	needed := runLength(t, s)
	c := Check{Name: "losses", Unit: "packets", Needed: needed, Outcome: Untold,
		Means: "packets from one loss to the next: three times the square of the window in packets"}
	test := model.NewRunLengthTest(max(needed, leastRun))
	sent, lost, events := lostOf(t, s)
	if sent == 0 {
		c.Means += "; no packets were sent at that rate"
		return c
	}
	c.Value = sent / max(1, lost)
	switch {
	case test.Judge(sent, lost) == model.Passes:
		c.Outcome = Passes
	case test.Judge(sent, events) == model.Fails:
		c.Outcome = Fails
		c.Advice = []measure.Advice{{Host: "path", Why: "find where packets are lost while nothing is congested: cables, connectors, optics, a duplex mismatch; " +
			"test a part of this section alone"}}
	}
	c.Means += fmt.Sprintf("; %.0f of %.0f were lost", lost, sent)
	if c.Outcome == Untold {
		wait := (test.Enough(lost) - sent) * sectionBytes * 8 / t.Rate
		c.Means += fmt.Sprintf(", which does not tell: without another loss, %s more would", quantity.FormatSeconds(max(0, wait)))
	}
	if lost > 0 {
		all.nearest(t, s, sent/lost)
	}
	return c
}

// lostOf is how many packets were sent at the rate of a target, how many of them were lost, and in how many events at the least: losses that
// come together are one.
func lostOf(t Target, s *Subject) (sent, lost, events float64) {
	for _, u := range s.udp {
		if u.rate > 0.5*t.Rate && u.rate < 1.1*t.Rate {
			sent, lost = sent+u.sent, lost+u.lost
			events += math.Ceil(u.lost / max(1, u.result.Metrics[measure.LossBurstMax]))
		}
	}
	return sent, lost, events
}

// nearest notes which targets losses so far apart would let pass, the worst of both ways.
func (all *Section) nearest(t Target, s *Subject, run float64) {
	least := func(now *float64, v float64) *float64 {
		if now != nil {
			v = min(*now, v)
		}
		return &v
	}
	all.NearestRTTSeconds = least(all.NearestRTTSeconds, model.TargetRTT(t.Rate, run, segment(s)).Seconds())
	all.NearestRateBitsPerSecond = least(all.NearestRateBitsPerSecond, math.Sqrt(run/3)*segment(s)*8/t.RTT.Seconds())
}

func checkReceiver(t Target, s *Subject) Check {
	needed := keeps * model.WindowNeeded(t.Rate, t.RTT)
	c := atLeast("receive buffer", "bytes", s, ReceiveBufferMax, needed, "the most that the receiver's kernel tunes a buffer to, which holds two windows")
	if c.Outcome == Fails && s.To != nil && s.To.Settings != nil && s.To.Settings.RmemBytes != nil {
		c.Advice = []measure.Advice{larger(s.Receiver, "tcp_rmem", *s.To.Settings.RmemBytes, needed)}
	}
	return c
}

func checkSender(t Target, s *Subject) Check {
	needed := keeps * model.WindowNeeded(t.Rate, t.RTT)
	c := atLeast("send buffer", "bytes", s, SendBufferMax, needed, "the most that the sender's kernel tunes a buffer to, which holds two windows")
	if c.Outcome == Fails && s.From != nil && s.From.Settings != nil && s.From.Settings.WmemBytes != nil {
		c.Advice = []measure.Advice{larger(s.Sender, "tcp_wmem", *s.From.Settings.WmemBytes, needed)}
	}
	return c
}

// larger is how the kernel is let tune a buffer up to a size, in whole steps of 64 KiB.
func larger(host, key string, now [3]int, needed float64) measure.Advice {
	const step = 64 << 10
	return measure.Advice{Host: host, Command: fmt.Sprintf(`sysctl -w net.ipv4.%s="%d %d %.0f"`, key, now[0], now[1], math.Ceil(needed/step)*step),
		Why: "the window of the target is " + quantity.FormatSize(int64(needed/keeps))}
}

// checkOptions asks for window scaling where the window needs it, and for selective acknowledgements, without which each loss of a
// window takes a round trip.
func checkOptions(t Target, s *Subject) Check {
	c := Check{Name: "options", Unit: "count", Needed: 2, Outcome: Untold, Means: "window scaling and selective acknowledgements, of both ends"}
	if !s.Known(WindowScaling) || !s.Known(SACK) {
		c.Means += "; it is not known whether they agreed on them"
		return c
	}
	c.Value, c.Outcome = s.Value(WindowScaling)+s.Value(SACK), Passes
	scaled := s.Is(WindowScaling) || model.WindowNeeded(t.Rate, t.RTT) <= unscaledWindow
	if !scaled || !s.Is(SACK) {
		c.Outcome = Fails
		c.Advice = []measure.Advice{{Host: "both ends", Command: "sysctl -w net.ipv4.tcp_window_scaling=1 net.ipv4.tcp_sack=1",
			Why: "and find what takes options out of SYN packets, if they are on"}}
	}
	return c
}

package diagnose

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// rule looks for one cause and returns nil where it is not there.
type rule func(*view) *claim

// claim is a finding that names a limit, with what that limit allows by its own formula.
type claim struct {
	*measure.Finding
	allows float64 // goodput in bit/s; +Inf where the formula lacks an input
}

// causes are tried in order on a path that is not full; the first that holds is the verdict, and any others warnings.
var causes = []rule{noWindowScaling, receiveWindowLimited, sendBufferLimited, applicationLimited, randomLoss}

// Shares of a test's time, by the kernel's own account, from which on a limit binds. A limit that binds shows 0.7 to
// 1 in the lab; one that does not, under 0.1.
const (
	binding     = 0.5
	sendBinding = 0.2 // the kernel books time to the receive window and the network while the send buffer refills
)

// A limit is not what holds a transfer if its own formula allows far more than was achieved, or far less.
const (
	mostAllowed = 2
	// leastAllowed: CUBIC reaches up to twice what the formula for loss gives on long paths, and the send buffer holds up to a
	// fifth more than its usual share.
	leastAllowed = 1.0 / 3
)

// holds reports whether a claim is the cause of what was achieved, as far as the claim's own formula can tell.
func (v *view) holds(c *claim) bool {
	return c.allows <= mostAllowed*v.steady && c.allows >= leastAllowed*v.steady
}

// try applies a rule, and returns nil where the cause is not there or its own formula rules it out, which is kept. No finding
// that names a limit comes about otherwise.
func (v *view) try(r rule) *measure.Finding {
	c := r(v)
	if c == nil {
		return nil
	}
	if !v.holds(c) {
		v.refuted = append(v.refuted, *c)
		return nil
	}
	return c.Finding
}

// findings applies the rules to a direction, and says of each finding which way it is about.
func (v *view) findings() []measure.Finding {
	var all []*measure.Finding
	switch {
	case v.stuck:
		all = v.ofStuck()
	case v.full():
		all = v.ofFull()
	default:
		all = v.ofSlow()
	}
	out := make([]measure.Finding, 0, len(all))
	for _, f := range all {
		f.Way = v.way()
		out = append(out, *f)
	}
	return out
}

// ofFull are the findings of a path that carries what it can. Losses are there, but do not slow this transfer.
func (v *view) ofFull() (all []*measure.Finding) {
	if f := v.try(pathFull); f != nil {
		all = append(all, f)
	}
	if f := v.try(randomLoss); f != nil {
		f.Severity, f.Predicted = measure.Info, nil
		all = append(all, f)
	}
	return all
}

// ofSlow are the findings of a path that may be slow. The first cause that holds is the verdict, so only that one is a problem.
func (v *view) ofSlow() (all []*measure.Finding) {
	found := false
	for _, cause := range causes {
		f := v.try(cause)
		if f == nil {
			continue
		}
		if found && f.Severity == measure.Problem {
			f.Severity = measure.Warning
		}
		found = found || f.Severity == measure.Problem
		all = append(all, f)
	}
	switch {
	case found:
	case v.carries == 0:
		all = append(all, capacityUnknown(v))
	case v.steady < unexplainedShare*v.carries:
		all = append(all, unexplained(v))
	}
	return all
}

// ofStuck are the findings of a path on which a connection opens and nothing moves.
func (v *view) ofStuck() []*measure.Finding {
	if f := v.try(pmtuBlackhole); f != nil {
		return []*measure.Finding{f}
	}
	return []*measure.Finding{unexplained(v)}
}

// pathFull says that nothing is wrong: the narrowest link is used.
func pathFull(v *view) *claim {
	f := &measure.Finding{
		ID: "path-full", Severity: measure.Info, Confidence: 0.9, Where: v.where(),
		Explanation: "The path carries what its narrowest link can. Only more capacity would make it faster.",
		Advice:      []measure.Advice{},
	}
	allows := v.carries
	f.Evidence = append(f.Evidence, evidence("throughput_bits_per_second", v.steady, "bit/s", "goodput once the transfer runs"))
	if v.carries > 0 {
		f.Evidence = append(f.Evidence, evidence("capacity_bits_per_second", v.capacity, "bit/s",
			fmt.Sprintf("of which TCP payload can have %s", quantity.FormatRate(v.carries))))
	} else { // a queue stands, so what goes through is what the narrowest link lets through
		allows = v.steady
		f.Confidence = 0.6
		f.Explanation = "A queue stands in the path while TCP sends, so the narrowest link is busy. Its capacity was not measured."
	}
	if v.loadedRTT > 0 {
		f.Evidence = append(f.Evidence, evidence("rtt_seconds", v.loadedRTT, "s",
			fmt.Sprintf("round trip under load; %s on the empty path", quantity.FormatSeconds(v.baseRTT))))
	}
	return &claim{f, allows}
}

func (v *view) where() string { return fmt.Sprintf("path from %s to %s", v.sender, v.receiver) }

func evidence(metric string, value float64, unit, means string) measure.Evidence {
	return measure.Evidence{Metric: metric, Value: value, Unit: unit, Means: means}
}

package diagnose

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// rule looks for one cause and returns nil where it is not there.
type rule func(*view) *measure.Finding

// causes are tried in order on a path that is not full; the first that holds is the verdict, and any others warnings.
var causes = []rule{noWindowScaling, receiveWindowLimited, sendBufferLimited, applicationLimited, randomLoss}

// Shares of a test's time, by the kernel's own account, from which on a limit binds. A limit that binds shows 0.7 to
// 1 in the lab; one that does not, under 0.1.
const (
	binding     = 0.5
	sendBinding = 0.2 // the kernel books time to the receive window and the network while the send buffer refills
)

// findings applies the rules to a direction. The first cause that holds is the verdict, so only that one is a problem.
func (v *view) findings() []measure.Finding {
	if v.full() {
		out := []measure.Finding{*pathFull(v)}
		if f := randomLoss(v); f != nil { // there, but it does not slow this transfer
			f.Severity, f.Predicted = measure.Info, nil
			out = append(out, *f)
		}
		return out
	}
	var out []measure.Finding
	found := false
	for _, cause := range causes {
		f := cause(v)
		if f == nil {
			continue
		}
		if found && f.Severity == measure.Problem {
			f.Severity = measure.Warning
		}
		found = found || f.Severity == measure.Problem
		out = append(out, *f)
	}
	switch {
	case found:
	case v.carries == 0:
		out = append(out, *capacityUnknown(v))
	case v.steady < unexplainedShare*v.carries:
		out = append(out, *unexplained(v))
	}
	return out
}

// capacityUnknown says that no cause shows, and that slow cannot be told from small.
func capacityUnknown(v *view) *measure.Finding {
	return &measure.Finding{
		ID: "capacity-unknown", Severity: measure.Info, Confidence: 0.9, Where: v.where(),
		Evidence: []measure.Evidence{evidence("throughput_bits_per_second", v.goodput, "bit/s", "goodput")},
		Explanation: "None of the causes that can be seen from here shows, and the path's capacity could not be measured, so it " +
			"cannot be said whether this is slow.",
		Advice: []measure.Advice{{Host: v.receiver, Command: "pathwise respond", Why: "with it at the far end, capacity and both ends can be seen"}},
	}
}

// unexplainedShare is the share of what the path can carry below which a cause must be there, even if none is found.
// It is below fullShare so that a measured capacity may be off by a tenth.
const unexplainedShare = 0.7

// pathFull says that nothing is wrong: the narrowest link is used.
func pathFull(v *view) *measure.Finding {
	f := &measure.Finding{
		ID: "path-full", Severity: measure.Info, Confidence: 0.9, Where: v.where(),
		Explanation: "The path carries what its narrowest link can. Only more capacity would make it faster.",
		Advice:      []measure.Advice{},
	}
	f.Evidence = append(f.Evidence, evidence("throughput_bits_per_second", v.steady, "bit/s", "goodput once the transfer runs"))
	if v.carries > 0 {
		f.Evidence = append(f.Evidence, evidence("capacity_bits_per_second", v.capacity, "bit/s",
			fmt.Sprintf("of which TCP payload can have %s", quantity.FormatRate(v.carries))))
	} else {
		f.Confidence = 0.6
		f.Explanation = "A queue stands in the path while TCP sends, so the narrowest link is busy. Its capacity was not measured."
	}
	if v.loadedRTT > 0 {
		f.Evidence = append(f.Evidence, evidence("rtt_seconds", v.loadedRTT, "s",
			fmt.Sprintf("round trip under load; %s on the empty path", quantity.FormatSeconds(v.baseRTT))))
	}
	return f
}

// unexplained admits that the path is slow and that no rule knows why.
func unexplained(v *view) *measure.Finding {
	return &measure.Finding{
		ID: "unexplained", Severity: measure.Warning, Confidence: 0.5, Where: v.where(),
		Evidence: []measure.Evidence{
			evidence("throughput_bits_per_second", v.steady, "bit/s", "goodput once the transfer runs"),
			evidence("capacity_bits_per_second", v.capacity, "bit/s", fmt.Sprintf("of which TCP payload can have %s", quantity.FormatRate(v.carries))),
			evidence("rwnd_limited_ratio", v.rwndShare, "ratio", "share of the time that the receiver's window held the sender"),
			evidence("sndbuf_limited_ratio", v.sndbufShare, "ratio", "share of the time that the send buffer held the sender"),
			evidence("retransmits_packets", v.resent, "packets", "sent again"),
		},
		Explanation: "The transfer is slower than the path's capacity allows, and none of the causes that Pathwise knows fits. " +
			"Other traffic on the path, a shallow queue or a busy host are the usual ones.",
		Advice: []measure.Advice{{Host: v.sender, Command: "", Why: "measure again at another hour, and each half of the path apart"}},
	}
}

func (v *view) where() string { return fmt.Sprintf("path from %s to %s", v.sender, v.receiver) }

func evidence(metric string, value float64, unit, means string) measure.Evidence {
	return measure.Evidence{Metric: metric, Value: value, Unit: unit, Means: means}
}

package diagnose

import (
	"fmt"
	"math"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// What is said where no cause holds. These findings name no limit.

// capacityUnknown says that no cause shows, and that slow cannot be told from small.
func capacityUnknown(v *view) *measure.Finding {
	f := &measure.Finding{
		ID: "capacity-unknown", Severity: measure.Info, Confidence: 0.9, Where: v.where(),
		Evidence: []measure.Evidence{evidence("throughput_bits_per_second", v.goodput, "bit/s", "goodput")},
		Explanation: "None of the causes that can be seen from here shows, and the path's capacity is not known, so it cannot be said " +
			"whether this is slow.",
		Advice: []measure.Advice{{Host: v.sender, Why: "compare with what the narrowest link of the path is meant to carry"}},
	}
	f.Evidence = append(f.Evidence, v.ruledOut()...)
	if v.doubt != "" {
		f.Explanation += " " + sentence("The measurement of the capacity: "+v.doubt)
	}
	if !v.respond {
		f.Advice = append([]measure.Advice{{Host: v.target, Command: "pathwise respond",
			Why: "with it at the far end, capacity and both ends can be seen"}}, f.Advice...)
	}
	return f
}

// unexplainedShare is the share of what the path can carry below which a cause must be there, even if none is found.
// It is below fullShare so that a measured capacity may be off by a tenth.
const unexplainedShare = 0.7

// unexplained admits that the path is slow and that no rule knows why.
func unexplained(v *view) *measure.Finding {
	f := &measure.Finding{
		ID: "unexplained", Severity: measure.Warning, Confidence: 0.5, Where: v.where(),
		Evidence: []measure.Evidence{evidence("throughput_bits_per_second", v.steady, "bit/s", "goodput once the transfer runs")},
		Explanation: "The transfer is slower than the path's capacity allows, and none of the causes that Pathwise knows fits. " +
			"Other traffic on the path, a shallow queue or a busy host are the usual ones.",
		Advice: []measure.Advice{{Host: v.sender, Command: "", Why: "measure again at another hour, and each half of the path apart"}},
	}
	if v.carries > 0 {
		f.Evidence = append(f.Evidence, evidence("capacity_bits_per_second", v.capacity, "bit/s",
			fmt.Sprintf("of which TCP payload can have %s", quantity.FormatRate(v.carries))))
	}
	f.Evidence = append(f.Evidence,
		evidence("rwnd_limited_ratio", v.rwndShare, "ratio", "share of the time that the receiver's window held the sender"),
		evidence("sndbuf_limited_ratio", v.sndbufShare, "ratio", "share of the time that the send buffer held the sender"),
		evidence("retransmits_packets", v.resent, "packets", "sent again"))
	f.Evidence = append(f.Evidence, v.ruledOut()...)
	if v.stuck {
		f.Explanation = "A connection opens, and nothing that is sent on it arrives."
		if v.largestPassing() > 0 {
			f.Explanation += " Single packets of that size are answered. A firewall or a proxy that lets connections open and then holds " +
				"their data is the usual cause."
		}
	}
	return f
}

// sentence ends a text with a full stop, unless it ends a sentence as it is.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// ruledOut is evidence that what looks like a cause is none.
func (v *view) ruledOut() (all []measure.Evidence) {
	for _, c := range v.refuted {
		if !math.IsInf(c.allows, 0) {
			all = append(all, evidence("allowed_bits_per_second", c.allows, "bit/s", "what "+c.ID+" would leave: it is not the cause"))
		}
	}
	return all
}

// noTransfer says that nothing could be measured of how fast the path is, and what answered. It is nil where that is for no
// reason that the Results tell.
func noTransfer(results []*measure.Result) *measure.Finding {
	var why *measure.Result
	v := &view{}
	for _, r := range results {
		switch {
		case r.Kind == "ping":
			v.takePing(r)
		case r.Error != nil && why == nil && measure.WayOf(r.Kind, r.Parameters) != "":
			why = r
		}
	}
	if why == nil {
		return nil
	}
	host := why.Target.Name
	f := &measure.Finding{ID: "no-transfer", Severity: measure.Info, Confidence: 0.9, Where: host,
		Evidence: []measure.Evidence{evidence("sent_packets", v.echoes.sent, "packets", "pings"),
			evidence("received_packets", v.echoes.answered, "packets", "answers to them")},
		Explanation: "No data could be moved, so it cannot be said how fast the path is: " + sentence(*why.Error),
		Advice:      []measure.Advice{{Host: host, Command: "pathwise respond", Why: "the far end of every test; open its port in firewalls on the way, for TCP and UDP"}}}
	if v.echoes.answered > 0 {
		f.Explanation += " The host is up, and the path to it works: it answers pings."
		f.Evidence = append(f.Evidence, evidence("rtt_min_seconds", v.baseRTT, "s", "round trip of the empty path"))
	} else {
		f.Confidence = 0.5
		f.Explanation += " It answers no pings either: it is down, or a firewall drops what is sent to it."
	}
	return f
}

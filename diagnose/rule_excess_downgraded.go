package diagnose

import (
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// What a probe found that sent packets with a mark (DSCP) about as fast as the path carries.
const (
	BriskRate    Name = "brisk_rate"
	BriskKept    Name = "brisk_kept"    // share of those that arrived with the mark
	BriskThrough Name = "brisk_through" // what arrived, in bit/s of payload
	BriskOther   Name = "brisk_other"   // mark of most that arrived with another one
)

// excessDowngraded: up to a rate packets keep their mark, and what is above arrives with another one: a policer at the edge of a network colours
// what is beyond the contract. Slowly all marks pass, which tells it from networks that set all anew; nothing need be lost, which tells it
// from a policer that drops.
var excessDowngraded = Rule{
	ID:    "excess-downgraded",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{MarkSent, MarkedPackets, MarkKept, BriskKept, BriskRate, Steady},
	Reads: []Name{BriskOther, BriskThrough, ClassLoss},
	Apart: map[string]Name{"dscp-remarked": MarkKept, "policer": BriskKept},
	Brings: []definition{
		{Name: BriskRate, Metric: string(measure.SentRate), Unit: "bit/s", Means: "rate of a fast probe with the mark", From: ofBrisk,
			Read: func(_ *Subject, r *measure.Result) (float64, bool) { return r.Get(measure.SentRate) }},
		{Name: BriskThrough, Metric: string(measure.Throughput), Unit: "bit/s", Means: "of a fast probe of {brisk_rate} that arrived", From: ofBrisk,
			Read: func(_ *Subject, r *measure.Result) (float64, bool) { return r.Get(measure.Throughput) }},
		{Name: BriskKept, Metric: "kept_ratio", Unit: "ratio", Means: "share of a fast probe that arrived with the mark that was sent", From: ofBrisk,
			Step: briskProbe, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				_, kept, all := commonMark(r)
				return float64(kept) / float64(max(1, all)), all >= enoughMarked
			}},
		{Name: BriskOther, Metric: "dscp", Unit: "code point", Means: "mark of most others", From: ofBrisk, Read: otherMark},
	},
	Suspect:  keepsMarks,
	Replaces: []string{"cross-traffic", "flow-slow-path", "random-loss", "burst-loss", "shallow-buffer"},
	Look: func(s *Subject) *Claim {
		kept := s.Value(BriskKept)
		if !keepsMarks(s) || kept >= nearlyKept || kept == 0 {
			return nil
		}
		headers := s.ipHeader() + udpHeader
		rate := kept * s.Value(BriskThrough) / model.Overhead{MTU: pacedBytes + headers, Headers: headers}.PayloadShare()
		return &Claim{
			Where: OnPath, Confidence: 0.9,
			Evidence: []Name{MarkSent, MarkKept, BriskRate, BriskKept, BriskOther, Steady},
			Advice:   []string{"shape", "contract"},
			Words: map[string]string{"rate": quantity.FormatRate(rate), "sent": strconv.Itoa(int(s.Value(MarkSent))),
				"other": strconv.Itoa(int(s.Value(BriskOther)))},
			Allows: s.Value(Steady), Unpredicted: true, // what a class gains depends on what others send
		}
	},
}

const (
	// nearlyKept is the share of a probe that arrives with its mark where nothing changes marks: all, but for a packet or two.
	nearlyKept = 0.95
	// briskPart is the share of the capacity that the fast probe takes: with the frames of Ethernet around its packets nearly all of it, so that
	// most of what a contract leaves out is seen. briskLasts is several times what the bucket of a policer holds as a rule, some tens of
	// milliseconds of its rate.
	briskPart  = 0.9
	briskLasts = 2.0 // seconds
)

// keepsMarks reports whether a slow probe arrived, and with the mark that it was sent with.
func keepsMarks(s *Subject) bool {
	return s.Value(MarkedPackets) >= enoughMarked && s.Value(MarkKept) >= nearlyKept && s.Value(ClassLoss) < classLost
}

// briskProbe sends datagrams with the mark at the rate that the program is said to have, else about as fast as the path carries, as far as that is
// known.
func briskProbe(s *Subject) (Step, bool) {
	rate := briskPart * s.Value(Capacity)
	if rate == 0 {
		rate = beyondPart * s.Value(Steady)
	}
	if s.Known(AskedRate) {
		rate = min(rate, s.Value(AskedRate))
	}
	return step("brisk", "throughput", s.Name, "whether packets keep their mark at a high rate", briskLasts+setUpTakes, map[string]any{
		"proto": "udp", "rate": float64(int64(min(rate, halfFastest))), "duration": briskLasts, "length": pacedBytes, "dscp": s.Value(MarkSent)}), rate > markedRate
}

// otherMark is the mark of most packets that arrived with another one than they were sent with.
func otherMark(_ *Subject, r *measure.Result) (mark float64, told bool) {
	sent, _ := r.Number("dscp")
	most := int64(0)
	for _, m := range r.Samples.Marks {
		if m.DSCP != int(sent) && m.Packets > most {
			mark, most = float64(m.DSCP), m.Packets
		}
	}
	return mark, most > 0
}

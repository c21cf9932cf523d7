package diagnose

import (
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
)

// What becomes of the mark (DSCP) of packets on the way.
const (
	MarkSent      Name = "mark_sent"
	MarkArrived   Name = "mark_arrived"   // with which most packets of a probe arrived
	MarkedPackets Name = "marked_packets" // of that probe, which arrived at all
	MarkKept      Name = "mark_kept"      // of these, the share with the mark that was sent
	MarkReturned  Name = "mark_returned"  // with which most answers to marked pings came back
	ReturnedKept  Name = "returned_kept"  // of these, the share with the mark that was sent
	RemarkedHop   Name = "remarked_hop"   // the first that a marked trace reached with another mark
)

// dscpRemarked: packets arrive with another mark than they were sent with. Networks agree on marks with their neighbours at best, and many
// set all to 0 at their edge; behind that, routers treat what should go first like everything else.
//
// The receiver of marked datagrams tells with which mark each arrived. Where none could be sent, answers to marked pings tell less: a host
// answers an echo with the mark that it arrived with (RFC 1349 section 5.1), so one was changed there or back.
var dscpRemarked = Rule{
	ID:    "dscp-remarked",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{MarkSent, Steady},
	Reads: []Name{MarkArrived, MarkedPackets, MarkKept, MarkReturned, ReturnedKept, RemarkedHop},
	Brings: []definition{
		{Name: MarkSent, Metric: "dscp", Unit: "code point", Means: "mark that was asked for",
			From: ofTransfer, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				dscp, _ := r.Number("dscp")
				return dscp, marked(r)
			}},
		{Name: MarkArrived, Metric: "dscp", Unit: "code point", Means: "mark with which most packets arrived",
			From: ofMarked, Step: markedProbe, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				dscp, _, all := commonMark(r)
				return float64(dscp), all > 0
			}},
		{Name: MarkedPackets, Metric: string(measure.ReceivedPackets), Unit: "packets", Means: "of a probe that was marked",
			From: ofMarked, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				_, _, all := commonMark(r)
				return float64(all), all > 0
			}},
		{Name: MarkReturned, Metric: "dscp", Unit: "code point", Means: "mark with which most answers to marked pings came back",
			From: ofPing, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				dscp, _, all := returnedMark(r)
				return float64(dscp), all >= enoughMarked
			}},
		{Name: ReturnedKept, Metric: "kept_ratio", Unit: "ratio", Means: "share of the answers to pings that came back with the mark that was sent",
			From: ofPing, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				_, kept, all := returnedMark(r)
				return float64(kept) / float64(max(1, all)), all >= enoughMarked
			}},
		{Name: MarkKept, Metric: "kept_ratio", Unit: "ratio", Means: "share of the {marked_packets} packets that arrived with the mark that was sent",
			From: ofMarked, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				_, kept, all := commonMark(r)
				return float64(kept) / float64(max(1, all)), all > 0
			}},
		{Name: RemarkedHop, Metric: "hop", Unit: "hop", Means: "the first that packets reach with another mark than they were sent with", From: ofTrace,
			Read: func(s *Subject, r *measure.Result) (float64, bool) {
				if s.Name != measure.Forward || r.Samples.Route == nil || !marked(r) {
					return 0, false
				}
				return float64(r.Samples.Route.DSCPChanged), r.Samples.Route.DSCPChanged > 0
			}},
	},
	Suspect: func(s *Subject) bool { return s.Known(MarkSent) },
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Severity: measure.Warning, Where: OnPath, Confidence: 0.95,
			Evidence: []Name{MarkSent, MarkArrived, MarkKept, MarkedPackets, RemarkedHop, MarkReturned, ReturnedKept},
			Advice:   []string{"ask", "edge"},
			Words: map[string]string{"sent": strconv.Itoa(int(s.Value(MarkSent))), "arrived": strconv.Itoa(int(s.Value(MarkArrived))),
				"returned": strconv.Itoa(int(s.Value(MarkReturned)))},
			Allows: s.Value(Steady), Unpredicted: true, // what a class gains depends on what others send
		}
		switch {
		case s.Value(MarkedPackets) >= enoughMarked && s.Value(MarkKept) <= mostlyKept:
			if s.Known(RemarkedHop) {
				c.Says, c.Words["hop"] = []string{"main", "hop"}, s.hop(int(s.Value(RemarkedHop)))
			}
			return c
		case s.Value(MarkedPackets) < enoughMarked && s.Name == measure.Forward && s.Known(MarkReturned) && s.Value(ReturnedKept) <= mostlyKept:
			c.Says, c.Confidence = []string{"returned"}, 0.7 // a host may answer with a mark of its own
			return c
		}
		return nil
	},
}

const (
	// enoughMarked is how many marked packets must arrive to tell what becomes of marks: a few may have taken another way.
	enoughMarked = 10
	// mostlyKept is the share that arrives as it was sent where nothing changes marks. Where flows are spread over ways of which one does, one
	// flow keeps its mark or loses it.
	mostlyKept = 0.5
)

// returnedMark is the mark with which most answers to marked pings came back, how many had the mark that was sent, and how many there were.
func returnedMark(r *measure.Result) (dscp int, kept, all int64) {
	counts := map[int]int64{}
	for _, e := range r.Samples.Echoes {
		if e.DSCP != nil {
			counts[*e.DSCP]++
		}
	}
	return mostCommon(r, counts)
}

// commonMark is the mark with which most datagrams of a probe arrived, how many arrived with the mark that was sent, and how many in all.
func commonMark(r *measure.Result) (dscp int, kept, all int64) {
	counts := map[int]int64{}
	for _, m := range r.Samples.Marks {
		counts[m.DSCP] += m.Packets
	}
	return mostCommon(r, counts)
}

// mostCommon is the mark of most packets, how many have the mark that a Result's test asked for, and how many there are.
func mostCommon(r *measure.Result, counts map[int]int64) (dscp int, kept, all int64) {
	for mark, packets := range counts {
		all += packets
		if packets > counts[dscp] || packets == counts[dscp] && mark < dscp {
			dscp = mark
		}
	}
	sent, _ := r.Number("dscp")
	return dscp, counts[int(sent)], all
}

// markedProbe sends datagrams with the mark that the transfer had.
func markedProbe(s *Subject) (Step, bool) {
	return step("marked", "throughput", s.Name, "whether packets arrive with the mark that they were sent with", markedLasts+setUpTakes,
		map[string]any{"proto": "udp", "rate": markedRate, "duration": markedLasts, "length": markedBytes, "dscp": s.Value(MarkSent)}), true
}

// The probe is a call of voice: what routers have classes for, and 50 packets, of which a full queue before them may drop most.
const (
	markedRate  = 80e3 // bit/s
	markedLasts = 1.0  // seconds
	markedBytes = 200  // of UDP payload
)

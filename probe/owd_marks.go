package probe

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Marks of packets that arrived: the far end tells those of the way there (RFC 8972 section 4.4), this end's kernel those of the way back.

// arrivedMark is a way of packets, with which DSCP they left, and with which DSCP and ECN they arrived.
type arrivedMark struct {
	way             string
	left, dscp, ecn int
}

// marksOf counts the packets of a session from the one with the index first on, by marks: forward before reverse, in the order of the marks that they
// left with. turns are the marks by turn. Of packets whose far end did not say with which marks they arrived there are none.
func marksOf(packets []owdPacket, first int, turns []int) []measure.Mark {
	counts := map[arrivedMark]int64{}
	for i := range packets {
		p := &packets[i]
		if !p.answeredInTime() || p.class == nil {
			continue
		}
		left := turns[classOf(first+i, len(turns))]
		counts[arrivedMark{measure.Forward, left, p.class.DSCP, p.class.ECN}]++
		if p.dscpBack >= 0 {
			counts[arrivedMark{measure.Reverse, p.class.Left(), p.dscpBack, p.ecnBack}]++
		}
	}
	var all []measure.Mark
	for m, n := range counts {
		all = append(all, measure.Mark{Direction: m.way, Sent: &m.left, DSCP: m.dscp, ECN: m.ecn, Packets: n})
	}
	slices.SortFunc(all, func(a, b measure.Mark) int {
		return cmp.Or(cmp.Compare(a.Direction, b.Direction), cmp.Compare(*a.Sent, *b.Sent), cmp.Compare(a.DSCP, b.DSCP), cmp.Compare(a.ECN, b.ECN))
	})
	return all
}

// marksText writes a line for each mark that packets left with, or arrived with.
func marksText(w io.Writer, r *measure.Result) {
	for _, m := range r.Samples.Marks {
		if m.Sent == nil {
			continue
		}
		came := "came as they left"
		if m.DSCP != *m.Sent {
			came = "came with " + quantity.FormatDSCP(m.DSCP)
		}
		if m.ECN != 0 {
			came += fmt.Sprintf(", ECN %02b", m.ECN)
		}
		fmt.Fprintf(w, "%-10s %d packets with %s %s\n", "marks", m.Packets, quantity.FormatDSCP(*m.Sent)+" "+m.Direction, came)
	}
}

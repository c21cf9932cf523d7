package probe

import (
	"fmt"
	"io"
	"maps"

	"github.com/pathwise-net/pathwise/analysis/loadrate"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/quantity"
)

// nearMost is the share of the highest rate that a sender goes to from which on the search may have been ended by that, and not by the path.
const nearMost = 0.95

// testConfig is the configuration of one test, whose search within itself is of UDP alone.
func (p *Throughput) testConfig() iperf3.Config {
	c := p.Config
	if p.Search == SearchRFC9097 {
		c.Proto, c.Search = iperf3.UDP, true
	}
	return c
}

// fillSearch adds what a search by RFC 9097 found: what came in its best sub-interval, which is what its metrics are of. The whole test has the losses that
// the search made to find the limit.
func fillSearch(r *measure.Result, report *iperf3.Report) {
	length, _ := r.Parameters["length"].(float64)
	header := int64(iperf3.PacketHeaders(report.Remote.Addr()))
	s := &measure.CapacitySearch{PacketBytes: int(int64(length) + header), StartBitsPerSecond: float64(report.Config.Rate), MostBitsPerSecond: loadrate.Most,
		FeedbackSeconds: loadrate.FeedbackTime.Seconds(), LowDelaySeconds: loadrate.LowDelay.Seconds(), HighDelaySeconds: loadrate.HighDelay.Seconds(),
		SequenceErrors: loadrate.SequenceErrors}
	if report.Peer != nil && report.Peer.Search != nil && report.Config.Reverse {
		s.MostBitsPerSecond = float64(report.Peer.Search.Most)
	}
	for i, one := range report.SubIntervals() {
		each := loadrate.SubInterval.Seconds()
		s.SubIntervals = append(s.SubIntervals, measure.SubInterval{StartSeconds: float64(i) * each, EndSeconds: float64(i+1) * each,
			BitsPerSecond: float64(one.Bytes) * 8 / each, Packets: one.Packets, LostPackets: one.Lost, ReorderedPackets: one.Reordered,
			DuplicatePackets: one.Duplicates, LeastDelay: one.LeastSeconds, MeanDelay: one.MeanSeconds, MostDelay: one.MostSeconds})
		if s.SubIntervals[i].BitsPerSecond > s.SubIntervals[s.Best].BitsPerSecond {
			s.Best = i
		}
	}
	r.Samples.Search = s
	if len(s.SubIntervals) == 0 {
		return
	}
	best := s.SubIntervals[s.Best]
	payload := best.BitsPerSecond * length / float64(s.PacketBytes)
	r.Metrics[measure.MaxIPCapacity], r.Metrics[measure.Throughput] = best.BitsPerSecond, payload
	// What the sender sent in that second is not known; in the whole test it was less, or lost.
	for _, m := range []measure.Metric{measure.SentRate, measure.LossPeriodMean, measure.SenderDropped, measure.ReceiverDropped, measure.FragmentedPackets, measure.Jitter} {
		delete(r.Metrics, m)
	}
	distinct := best.Packets - best.DuplicatePackets
	maps.Copy(r.Metrics, fates{sent: distinct + best.LostPackets, lost: best.LostPackets, longest: uncounted}.metrics())
	r.Metrics[measure.ReorderedPackets], r.Metrics[measure.DuplicatePackets] = float64(best.ReorderedPackets), float64(best.DuplicatePackets)
	if best.BitsPerSecond >= nearMost*s.MostBitsPerSecond {
		r.Note(fmt.Sprintf("the sender goes no higher than %s: the path may carry more", quantity.FormatRate(s.MostBitsPerSecond)))
	}
}

// searchText writes how much came in each sub-interval.
func searchText(w io.Writer, r *measure.Result) {
	s := r.Samples.Search
	if len(s.SubIntervals) == 0 {
		fmt.Fprintf(w, "%-22s %s\n", "search", "no second of it was whole")
		return
	}
	fmt.Fprintf(w, "%14s  %14s  %8s  %9s  %s\n", "second", "came", "packets", "lost", "delay above the least")
	for i, one := range s.SubIntervals {
		lost := 0.
		if all := one.Packets + one.LostPackets; all > 0 {
			lost = float64(one.LostPackets) / float64(all)
		}
		mark := ""
		if i == s.Best {
			mark = "  most"
		}
		fmt.Fprintf(w, "%6.0f - %.0f s  %14s  %8d  %9s  %s to %s%s\n", one.StartSeconds, one.EndSeconds, quantity.FormatRate(one.BitsPerSecond), one.Packets,
			quantity.FormatRatio(lost), quantity.FormatSeconds(one.LeastDelay), quantity.FormatSeconds(one.MostDelay), mark)
	}
	fmt.Fprintf(w, "%-22s %s of IP packets of %d bytes (RFC 9097)\n", "IP-layer capacity", quantity.FormatRate(s.SubIntervals[s.Best].BitsPerSecond), s.PacketBytes)
}

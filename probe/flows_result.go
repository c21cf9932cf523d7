package probe

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/flows"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/traffic"
)

// reportFlows fills in what is known of each flow, and of all together where the far end told all.
func reportFlows(r *measure.Result, script *traffic.Script, o flows.Outcome) {
	for i := range o.Sent {
		s, f := &o.Sent[i], &script.Flows[i]
		sample := measure.FlowSample{Name: f.Name, SourcePort: int(s.Port), StartSeconds: f.Start.Seconds(), EndSeconds: f.End.Seconds(),
			Sent: s.Packets, SentBytes: s.Bytes, Skipped: s.Skipped, Refused: s.Refused,
			LateP95Seconds: time.Duration(s.Late.Quantile(0.95)).Seconds(), LateMaxSeconds: time.Duration(s.Late.Max()).Seconds()}
		switch {
		case o.Account != nil:
			sample.Arrived = flowArrivals(f, s.Packets, &o.Account.Flows[i])
		case o.SoFar != nil:
			sample.SoFar = o.SoFar[i].Packets
		}
		r.Samples.Flows = append(r.Samples.Flows, sample)
	}
	if o.Account == nil {
		r.Metrics = map[measure.Metric]float64{}
		for i := range r.Samples.Flows {
			r.Metrics[measure.SentPackets] += float64(r.Samples.Flows[i].Sent)
		}
		return
	}
	r.Metrics = reduceFlows(r.Samples.Flows, script.Duration())
	noteFlows(r, o.Account)
}

// flowArrivals are what the far end told of a flow. Its rate is over the time that the script gives it, or that its packets took to arrive where a
// queue made that longer.
func flowArrivals(f *traffic.Flow, sent int, a *flows.FlowAccount) *measure.FlowArrivals {
	return &measure.FlowArrivals{Received: a.Packets, ReceivedBytes: a.Bytes, Lost: max(0, sent-a.Packets), LossRuns: a.LossRuns,
		LossBurstMax: a.LongestRun, Duplicates: a.Copies, Reordered: a.Reordered, ReorderingExtent: a.MaxExtent, Remarked: a.Remarked,
		BitsPerSecond:  8 * float64(a.Bytes) / max(f.End-f.Start, a.Span).Seconds(),
		IPDVP95Seconds: a.IPDVP95.Seconds(), PDVP95Seconds: a.PDVP95.Seconds(), PDVMaxSeconds: a.PDVMost.Seconds()}
}

// reduceFlows makes metrics of all flows together, each of which the far end told of.
func reduceFlows(all []measure.FlowSample, lasted time.Duration) map[measure.Metric]float64 {
	f := fates{}
	var duplicates, reordered, unsent int
	var sentBytes, receivedBytes int64
	for i := range all {
		s, a := &all[i], all[i].Arrived
		f.sent, f.lost, f.runs = f.sent+int64(s.Sent), f.lost+int64(a.Lost), f.runs+int64(a.LossRuns)
		f.longest = max(f.longest, int64(a.LossBurstMax))
		duplicates, reordered, unsent = duplicates+a.Duplicates, reordered+a.Reordered, unsent+s.Skipped+s.Refused
		sentBytes, receivedBytes = sentBytes+s.SentBytes, receivedBytes+a.ReceivedBytes
	}
	m := f.metrics()
	m[measure.DuplicatePackets], m[measure.ReorderedPackets] = float64(duplicates), float64(reordered)
	m[measure.ReorderingRatio] = float64(reordered) / float64(max(1, f.sent-f.lost))
	m[measure.SenderDropped] = float64(unsent)
	m[measure.SentRate] = 8 * float64(sentBytes) / lasted.Seconds()
	m[measure.Throughput] = 8 * float64(receivedBytes) / lasted.Seconds()
	if len(all) == 1 && all[0].Arrived.Received > 1 {
		m[measure.IPDVP95(measure.Forward)], m[measure.PDVP95(measure.Forward)] = all[0].Arrived.IPDVP95Seconds, all[0].Arrived.PDVP95Seconds
	}
	return m
}

// noteFlows adds what limits what the figures mean.
func noteFlows(r *measure.Result, a *flows.Account) {
	if r.Metrics[measure.SentPackets] > 0 && r.Metrics[measure.ReceivedPackets] == 0 {
		r.Note("no packet arrived, and the control connection stands: a firewall may let TCP to the port and not UDP")
	}
	if a.Foreign > 0 {
		r.Note(fmt.Sprintf("%s came to the far end with the number of this test and are none of its packets", quantity.FormatCount(int(a.Foreign), "datagram")))
	}
	if a.Strangers > 0 {
		r.Note(fmt.Sprintf("%s of no test came to the far end meanwhile; they are not counted", quantity.FormatCount(int(a.Strangers), "datagram")))
	}
}

// flowsText writes a line for each flow.
func flowsText(w io.Writer, r *measure.Result) {
	fmt.Fprintf(w, "%s (%s): %s\n", r.Target.Name, r.Target.Address, quantity.FormatCount(len(r.Samples.Flows), "flow"))
	rows := [][]string{{"flow", "sent", "unsent", "lost", "loss", "in a row", "copies", "reordered", "rate", "ipdv p95", "late p95", "late max"}}
	for i := range r.Samples.Flows {
		f := &r.Samples.Flows[i]
		row := []string{f.Name, fmt.Sprint(f.Sent), fmt.Sprint(f.Skipped + f.Refused)}
		if a := f.Arrived; a != nil {
			row = append(row, fmt.Sprint(a.Lost), quantity.FormatRatio(float64(a.Lost)/float64(max(1, f.Sent))), fmt.Sprint(a.LossBurstMax),
				fmt.Sprint(a.Duplicates), fmt.Sprint(a.Reordered), quantity.FormatRate(a.BitsPerSecond), quantity.FormatSeconds(a.IPDVP95Seconds))
		} else {
			row = append(row, "?", "?", "?", "?", "?", "?", "?")
		}
		rows = append(rows, append(row, quantity.FormatSeconds(f.LateP95Seconds), quantity.FormatSeconds(f.LateMaxSeconds)))
	}
	for _, line := range chart.Table(rows, 0) {
		fmt.Fprintln(w, line)
	}
	for i := range r.Samples.Flows {
		flowExtras(w, &r.Samples.Flows[i])
	}
}

// flowExtras writes what is unusual in a flow.
func flowExtras(w io.Writer, f *measure.FlowSample) {
	a := cmp.Or(f.Arrived, &measure.FlowArrivals{})
	for _, one := range []struct {
		n    int
		what string
	}{
		{f.Refused, "refused by this host's kernel"},
		{a.Remarked, "arrived with another mark"}, {f.SoFar, "had arrived when the far end was last heard"},
	} {
		if one.n > 0 {
			fmt.Fprintf(w, "%s: %s %s\n", f.Name, quantity.FormatCount(one.n, "packet"), one.what)
		}
	}
}

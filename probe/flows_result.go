package probe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/flows"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/traffic"
)

// reportFlows fills in what is known of each flow, and of all together where the far end told all. port is the far end's.
func reportFlows(r *measure.Result, script *traffic.Script, port int, o flows.Outcome) {
	for i := range o.Sent {
		s, f := &o.Sent[i], &script.Flows[i]
		sample := measure.FlowSample{Name: f.Name, Direction: measure.Forward, SourcePort: int(s.Port), TargetPort: port, StartSeconds: f.Start.Seconds(),
			EndSeconds: f.End.Seconds(), Sent: s.Packets, SentBytes: s.Bytes, Skipped: s.Skipped, Refused: s.Refused,
			LateP95Seconds: s.LateP95.Seconds(), LateMaxSeconds: s.LateMost.Seconds()}
		if f.Reverse {
			sample.Direction, sample.SourcePort, sample.TargetPort = measure.Reverse, port, int(s.Port)
		}
		switch {
		case o.Account != nil:
			sample.Arrived = flowArrivals(f, s, &o.Account.Flows[i])
			sample.Arrived.OverTime = flowOverTime(script.Interval(), s, &o.Account.Flows[i])
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
	r.Metrics = reduceFlows(r.Samples.Flows, r.Way, script.Duration())
	noteFlows(r, o.Account)
}

// flowArrivals are what the receiver told of a flow. Its rate is over the time that the script gives it, or that its packets took to arrive where a
// queue made that longer.
func flowArrivals(f *traffic.Flow, sent *flows.Sent, a *flows.FlowAccount) *measure.FlowArrivals {
	return &measure.FlowArrivals{Received: a.Packets, ReceivedBytes: a.Bytes, Lost: max(0, sent.Packets-a.Packets), LossRuns: a.LossRuns,
		LossBurstMax: a.LongestRun, Duplicates: a.Copies, Reordered: a.Reordered, ReorderingExtent: a.MaxExtent, Remarked: a.Remarked,
		BitsPerSecond:  8 * float64(a.Bytes) / max(f.End-f.Start, a.Span).Seconds(),
		IPDVP95Seconds: a.IPDVP95.Seconds(), PDVP95Seconds: a.PDVP95.Seconds(), PDVMaxSeconds: a.PDVMost.Seconds()}
}

// flowOverTime is what became of a flow in each interval of the script.
func flowOverTime(width time.Duration, sent *flows.Sent, a *flows.FlowAccount) *measure.FlowOverTime {
	o := &measure.FlowOverTime{IntervalSeconds: width.Seconds(), Sent: sent.Intervals}
	for _, one := range a.Intervals {
		o.Received, o.ReceivedBytes = append(o.Received, one.Packets), append(o.ReceivedBytes, one.Bytes)
		var mean, most *float64
		if one.Packets > 0 {
			mean, most = new(one.Mean.Seconds()), new(one.Most.Seconds())
		}
		o.DelayMean, o.DelayMax = append(o.DelayMean, mean), append(o.DelayMax, most)
	}
	return o
}

// reduceFlows makes metrics of all flows together, each of which the receiver told of, and where they go both ways, of each way too.
func reduceFlows(all []measure.FlowSample, way measure.Way, lasted time.Duration) map[measure.Metric]float64 {
	m := sumFlows(all).metrics()
	var duplicates, reordered, unsent int
	for i := range all {
		s := &all[i]
		duplicates, reordered, unsent = duplicates+s.Arrived.Duplicates, reordered+s.Arrived.Reordered, unsent+s.Skipped+s.Refused
	}
	m[measure.DuplicatePackets], m[measure.ReorderedPackets] = float64(duplicates), float64(reordered)
	m[measure.ReorderingRatio] = float64(reordered) / max(1, m[measure.ReceivedPackets])
	m[measure.SenderDropped] = float64(unsent)
	for _, direction := range []string{measure.Forward, measure.Reverse} {
		of := slices.DeleteFunc(slices.Clone(all), func(f measure.FlowSample) bool { return f.Direction != direction })
		if len(of) == 0 {
			continue
		}
		sent, received := flowRates(of, lasted)
		if direction == measure.Reverse && way == measure.Both {
			m[measure.ReverseThroughput] = received
		} else {
			m[measure.SentRate], m[measure.Throughput] = sent, received
		}
		if f := sumFlows(of); way == measure.Both {
			m[measure.SentOn(direction)], m[measure.LostOn(direction)] = float64(f.sent), float64(f.lost)
			if f.sent > 0 {
				m[measure.LossOn(direction)] = float64(f.lost) / float64(f.sent)
			}
		}
		if a := of[0].Arrived; len(of) == 1 && a.Received > 1 {
			m[measure.IPDVP95(direction)], m[measure.PDVP95(direction)] = a.IPDVP95Seconds, a.PDVP95Seconds
		}
	}
	return m
}

func sumFlows(all []measure.FlowSample) (f fates) {
	for i := range all {
		s, a := &all[i], all[i].Arrived
		f.sent, f.lost, f.runs = f.sent+int64(s.Sent), f.lost+int64(a.Lost), f.runs+int64(a.LossRuns)
		f.longest = max(f.longest, int64(a.LossBurstMax))
	}
	return f
}

// flowRates are what flows sent and what arrived of them, in bit/s of UDP payload over the time of the script.
func flowRates(all []measure.FlowSample, lasted time.Duration) (sent, received float64) {
	for i := range all {
		sent, received = sent+8*float64(all[i].SentBytes)/lasted.Seconds(), received+8*float64(all[i].Arrived.ReceivedBytes)/lasted.Seconds()
	}
	return sent, received
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
		row := []string{flowDirection(r.Samples.Flows, f), fmt.Sprint(f.Sent), fmt.Sprint(f.Skipped + f.Refused)}
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
	for _, line := range flowsDrawing(r.Samples.Flows) {
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
		{f.Refused, "refused by the sender's kernel"},
		{a.Remarked, "arrived with another mark"}, {f.SoFar, "had arrived when the far end was last heard"},
	} {
		if one.n > 0 {
			fmt.Fprintf(w, "%s: %s %s\n", f.Name, quantity.FormatCount(one.n, "packet"), one.what)
		}
	}
}

package probe

import (
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// owdText writes what people want to know of a measurement of both ways.
func owdText(w io.Writer, r *measure.Result) {
	m := r.Metrics
	fmt.Fprintf(w, "%s (%s): %.0f sent, %.0f lost (%s)%s\n", r.Target.Name, r.Target.Address, m[measure.SentPackets], m[measure.LostPackets],
		quantity.FormatRatio(m[measure.LossRatio]), extras(m, measure.DuplicatePackets, measure.ReorderedPackets))
	defer outageText(w, r)
	defer marksText(w, r)
	defer classText(w, r)
	for _, way := range []string{measure.Forward, measure.Reverse} {
		if _, any := r.Get(measure.OneWay(way, "min")); !any {
			continue
		}
		fmt.Fprintf(w, "%-10s min/median/p95/p99/max = %s", way, quantiles(m, "owd_"+way))
		if spread, any := r.Get(measure.OneWaySpread(way)); any {
			fmt.Fprintf(w, ", jitter %s", quantity.FormatSeconds(spread))
		}
		if lost, known := r.Get(measure.LostOn(way)); known {
			fmt.Fprintf(w, ", %.0f lost", lost)
		}
		fmt.Fprintln(w, extras(m, measure.DuplicateOn(way), measure.ReorderedOn(way)))
	}
	if _, any := r.Get(measure.RTTMin); any {
		fmt.Fprintf(w, "%-10s min/median/p95/p99/max = %s\n", "round trip", quantiles(m, "rtt"))
	}
	if _, any := r.Get(measure.OneWayError); any {
		fmt.Fprintf(w, "%-10s %s\n", "clocks", clocksText(r))
	}
	if mos, known := r.Get(measure.MOS(measure.Forward)); known {
		fmt.Fprintf(w, "%-10s MOS %.1f forward, %.1f reverse; playout buffers of %s and %s\n", "speech", mos, m[measure.MOS(measure.Reverse)],
			quantity.FormatSeconds(m[measure.Playout(measure.Forward)]), quantity.FormatSeconds(m[measure.Playout(measure.Reverse)]))
	}
}

// classText writes a row for each class, and what differs between them.
func classText(w io.Writer, r *measure.Result) {
	if len(r.Samples.Classes) == 0 {
		return
	}
	rows := [][]string{{"class", "dscp", "sent", "lost", "least", "median", "p95"}}
	for _, c := range r.Samples.Classes {
		row := []string{c.Name, fmt.Sprint(c.DSCP), fmt.Sprint(c.Sent), quantity.FormatRatio(float64(c.Lost) / float64(max(1, c.Sent))), "-", "-", "-"}
		for i, v := range []*float64{c.MinSeconds, c.MedianSeconds, c.P95Seconds} {
			if v != nil {
				row[4+i] = quantity.FormatSeconds(*v)
			}
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w, strings.Join(chart.Table(rows, 0), "\n"))
	if text, _ := r.Parameters["priority"].(string); text != "" {
		fmt.Fprintln(w, "forward: "+text)
	}
}

// extras are counts that are worth a word only where they are not 0: duplicates, and what was reordered.
func extras(m map[measure.Metric]float64, duplicates, reordered measure.Metric) (text string) {
	if n := m[duplicates]; n > 0 {
		text += fmt.Sprintf(", %.0f duplicates", n)
	}
	if n := m[reordered]; n > 0 {
		text += fmt.Sprintf(", %.0f reordered", n)
	}
	return text
}

// quantiles are those of metrics whose names begin alike.
func quantiles(m map[measure.Metric]float64, of string) string {
	var values []string
	for _, q := range []string{"min", "median", "p95", "p99", "max"} {
		values = append(values, quantity.FormatSeconds(m[measure.Metric(of+"_"+q+"_seconds")]))
	}
	return strings.Join(values, " / ")
}

// clocksText says how wrong one-way delays may be for the clocks, and what the packets tell of them.
func clocksText(r *measure.Result) string {
	text := "one-way delays may be wrong by up to " + quantity.FormatSeconds(r.Metrics[measure.OneWayError])
	far := r.TargetClock
	if far == nil || far.AheadSeconds == nil {
		return text
	}
	switch near := r.Clock; {
	case !near.Synchronized && !far.Synchronized:
		text += ", as neither clock is kept"
	case !near.Synchronized:
		text += ", as this host's clock is not kept"
	case !far.Synchronized:
		text += ", as the far clock is not kept"
	}
	text += fmt.Sprintf("; the far clock is ahead by %s to %s", quantity.FormatSeconds(far.AheadSeconds[0]), quantity.FormatSeconds(far.AheadSeconds[1]))
	if offset, known := r.Get(measure.ClockOffset); known {
		text += ", " + quantity.FormatSeconds(offset) + " if the ways are alike"
	}
	return text
}

// owdLine is a packet as it is told on the way.
func owdLine(e measure.Echo) string {
	switch {
	case e.Way == "":
	case e.ForwardSeconds != nil:
		return fmt.Sprintf("%5d  %s %s", e.Seq, quantity.FormatSeconds(*e.ForwardSeconds), e.Way)
	case e.ReverseSeconds != nil:
		return fmt.Sprintf("%5d  %s %s", e.Seq, quantity.FormatSeconds(*e.ReverseSeconds), e.Way)
	default:
		return fmt.Sprintf("%5d  lost %s", e.Seq, e.Way)
	}
	if e.Error != "" || e.RTTSeconds == nil || e.ForwardSeconds == nil || e.ReverseSeconds == nil {
		return EchoLine(e)
	}
	return fmt.Sprintf("%5d  %s forward, %s reverse, %s round trip", e.Seq, quantity.FormatSeconds(*e.ForwardSeconds),
		quantity.FormatSeconds(*e.ReverseSeconds), quantity.FormatSeconds(*e.RTTSeconds))
}

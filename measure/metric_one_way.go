package measure

import "fmt"

// Jitter is the smoothed difference of the time on the way between one packet and the next (RFC 3550, 6.4.1).
const Jitter Metric = "jitter_seconds"

// OneWayDelays is the distribution of one-way delay, forward or reverse.
func OneWayDelays(way string) Metric { return Metric("owd_" + way + "_seconds") }

// oneWayMetrics are of one-way delay (RFC 7679): forward from the source to the target, reverse from the target to the source.
func oneWayMetrics() (all []Definition) {
	for _, way := range []string{Forward, Reverse} {
		for _, q := range []struct {
			part              string
			quantile          float64
			label, help, text string
		}{
			{"median", 0.5, "median", "Median", "What a packet usually takes: half were sooner, half later. " +
				"It is as good as the clocks of both ends."},
			{"min", 0, "minimum", "Smallest", "The least time that a packet took. It is nearest to the bare path, and as good as the clocks of " +
				"both ends."},
			{"p95", 0.95, "95th percentile", "95th percentile of the", "Nineteen packets of twenty had arrived by then."},
			{"p99", 0.99, "99th percentile", "99th percentile of the",
				"One packet of a hundred takes longer. It needs some hundred packets to mean anything."},
			{"max", 1, "maximum", "Largest", "The packet that took longest. One packet decides it, so that it says what can happen, not how often."},
		} {
			d := Definition{Metric: Metric(fmt.Sprintf("owd_%s_%s_seconds", way, q.part)), Label: "One-way delay " + way + ", " + q.label,
				Group: "Delay", Better: BetterLow, Warn: 0.05, Bad: 0.1, Merge: quantileOf(OneWayDelays(way), q.quantile),
				Help: q.help + " one-way delay (RFC 7679), " + way + ", of the packets that arrived.", Text: q.text,
				See: []string{"one-way-delay", "clock-error"}, Source: "RFC 7679"}
			if q.part == "median" {
				d.Draw, d.Loss = DrawSmoke, Metric("loss_"+way+"_ratio")
			}
			all = append(all, d)
		}
	}
	return all
}

// variationMetrics are of the variation of one-way delay (RFC 3393, RFC 5481), forward and reverse as oneWayMetrics.
func variationMetrics() (all []Definition) {
	for _, way := range []string{Forward, Reverse} {
		all = append(all, Definition{Metric: Metric("ipdv_" + way + "_p95_seconds"), Label: "Delay variation " + way + ", 95th percentile",
			Group: "Variation", Better: BetterLow, Warn: 0.005, Bad: 0.02, Draw: DrawLine,
			Help: "95th percentile of the delay variation between packets (RFC 3393), " + way + ".",
			Text: "How much the one-way delay differs from one packet to the next: of twenty, nineteen differ by less.",
			See:  []string{"ipdv", "delay-variation"}, Source: "RFC 3393, RFC 5481"})
	}
	return append(all, Definition{Metric: Jitter, Label: "Jitter", Group: "Variation",
		Better: BetterLow, Warn: 0.005, Bad: 0.02, Draw: DrawLine,
		Help: "Interarrival jitter (RFC 3550).",
		Text: "How much the time on the way changes from one packet to the next, smoothed as receivers of speech and " +
			"video do.",
		See:    []string{"jitter", "delay-variation"},
		Source: "RFC 3550 section 6.4.1"})
}

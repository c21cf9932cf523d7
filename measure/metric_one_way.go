package measure

// OneWayDelays is the distribution of one-way delay, forward or reverse.
func OneWayDelays(way string) Metric { return Metric("owd_" + way + "_seconds") }

// OneWay is a quantile of one-way delay, forward or reverse: min, median, p95, p99 or max.
func OneWay(way, quantile string) Metric { return Metric("owd_" + way + "_" + quantile + "_seconds") }

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
			d := Definition{Metric: OneWay(way, q.part), Label: "One-way delay " + way + ", " + q.label,
				Group: "Delay", Better: BetterLow, Warn: 0.05, Bad: 0.1, Merge: quantileOf(OneWayDelays(way), q.quantile),
				Help: q.help + " one-way delay (RFC 7679), " + way + ", of the packets that arrived.", Text: q.text,
				See: []string{"one-way-delay", "clock-error"}, Source: "RFC 7679"}
			if q.part == "median" {
				d.Draw, d.Loss = DrawSmoke, LossOn(way)
			}
			all = append(all, d)
		}
	}
	return all
}

// Figures of the clocks behind one-way delay.
const (
	OneWayError Metric = "owd_error_seconds"
	ClockOffset Metric = "clock_offset_seconds"
	ClockSkew   Metric = "clock_skew_ratio"

	ClockOffsetError Metric = "clock_offset_error_seconds"
	ServerStratum    Metric = "server_stratum_count"
)

func clockMetrics() []Definition {
	return []Definition{
		{Metric: OneWayError, Label: "One-way delay, error for the clocks", Group: "Delay", Better: BetterLow,
			Help: "The most that one-way delays may be wrong by for the clocks of both ends.",
			Text: "What both kernels claim of their clocks, or what the packets allow, whichever is tighter; where no packet could have " +
				"arrived before it was sent only if a claim is wrong, the claim does not count.",
			Shows: "A one-way delay below it says little. Delay variation, loss and round trips do not depend on it.",
			See:   []string{"clock-error", "clock-synchronisation"}, Source: "RFC 7679 section 3.7"},
		{Metric: ClockOffset, Label: "Clock offset of the far end", Group: "Delay",
			Help: "How far the clock of the far end is ahead of the near one's, as the fastest packets of both ways suggest.",
			Text: "It is right where the fastest packets of both ways took the same time, and wrong by half of what they differ. One-way " +
				"delays are given as the clocks showed them; it is not taken out of them.",
			See: []string{"clock-error", "route-asymmetry-of-delay"}},
		{Metric: ClockOffsetError, Label: "Clock offset of a time server, error", Group: "Delay", Better: BetterLow,
			Help: "The most that the clock offset of a time server may be wrong by.",
			Text: "Half of the round trip that it was read from: so wrong it is if one of the two ways took no time at all.",
			See:  []string{"clock-error", "clock_offset_seconds"}, Source: "RFC 5905 section 8"},
		{Metric: ServerStratum, Label: "Stratum of a time server", Group: "Delay", Better: BetterLow, Draw: DrawSteps,
			Help:  "How many servers lie between a time server and a reference clock, and one.",
			Text:  "1 has the reference clock itself; 16 says that its clock is not synchronised.",
			Shows: "A step up: the server has lost its own source.",
			See:   []string{"clock-synchronisation"}, Source: "RFC 5905 section 7.3"},
		{Metric: ClockSkew, Label: "Clock skew of the far end", Group: "Delay",
			Help: "By how much the clock of the far end runs faster than the near one's, as the fastest packets of both ways show.",
			Text: "The slope of a straight line between the least delays of both ways over time. An undisturbed clock is wrong by some " +
				"millionths, one that is being corrected by some hundreds of them.",
			See: []string{"clock-skew"}, Source: "Moon, Skelly and Towsley, 1999"},
	}
}

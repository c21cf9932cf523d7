package measure

// Round-trip delay (RFC 2681), over the samples that returned.
const (
	RTTMin    Metric = "rtt_min_seconds"
	RTTMean   Metric = "rtt_mean_seconds"
	RTTMedian Metric = "rtt_median_seconds"
	RTTP95    Metric = "rtt_p95_seconds"
	RTTP99    Metric = "rtt_p99_seconds"
	RTTMax    Metric = "rtt_max_seconds"
	RTTStddev Metric = "rtt_stddev_seconds"

	RTTs Metric = "rtt_seconds" // the distribution that they are of
)

func delayMetrics() []Definition {
	return []Definition{
		{Metric: RTTMedian, Label: "Round-trip delay, median", Group: "Delay",
			Better: BetterLow, Follows: FollowsTrip, Merge: quantileOf(RTTs, 0.5), Warn: 0.1, Bad: 0.2, Draw: DrawSmoke, Loss: LossRatio,
			Help: "Median round-trip delay (RFC 2681) of the probes that returned.",
			Text: "Half of the packets were back sooner, half later. It is what a packet usually takes, and one that was " +
				"late does not move it.",
			Shows:  "Well above the shortest one, a queue stands on the path most of the time.",
			See:    []string{"round-trip-time", "bufferbloat"},
			Source: "RFC 2681"},
		{Metric: RTTMin, Label: "Round-trip delay, minimum", Group: "Delay",
			Better: BetterLow, Follows: FollowsTrip, Merge: quantileOf(RTTs, 0), Warn: 0.1, Bad: 0.2,
			Help: "Smallest round-trip delay (RFC 2681) of the probes that returned.",
			Text: "The least time from sending a packet to its answer, of all packets of a test. It is nearest to the bare " +
				"path: distance, links and routers without queues.",
			Shows:  "It changes only when the route does, or a link on it. A step in it is a path that changed.",
			See:    []string{"round-trip-time", "path-change"},
			Source: "RFC 2681"},
		{Metric: RTTP95, Label: "Round-trip delay, 95th percentile", Group: "Delay",
			Better: BetterLow, Follows: FollowsTrip, Merge: quantileOf(RTTs, 0.95), Warn: 0.1, Bad: 0.2,
			Help:   "95th percentile of the round-trip delay (RFC 2681) of the probes that returned.",
			Text:   "Nineteen packets of twenty were back by then. What a person or a program has to wait for now and then.",
			See:    []string{"round-trip-time", "delay-variation"},
			Source: "RFC 2681"},
		{Metric: RTTP99, Label: "Round-trip delay, 99th percentile", Group: "Delay",
			Better: BetterLow, Follows: FollowsTrip, Merge: quantileOf(RTTs, 0.99),
			Help:   "99th percentile of the round-trip delay (RFC 2681) of the probes that returned.",
			Text:   "One packet of a hundred takes longer. It needs some hundred packets to mean anything.",
			See:    []string{"round-trip-time", "delay-variation"},
			Source: "RFC 2681"},
		{Metric: RTTMax, Label: "Round-trip delay, maximum", Group: "Delay",
			Better: BetterLow, Follows: FollowsTrip, Merge: quantileOf(RTTs, 1), Warn: 0.1, Bad: 0.2,
			Help:   "Largest round-trip delay (RFC 2681) of the probes that returned.",
			Text:   "The packet that came back last. One packet decides it, so that it says what can happen, not how often.",
			See:    []string{"round-trip-time", "rtt_p99_seconds"},
			Source: "RFC 2681"},
		{Metric: RTTMean, Label: "Round-trip delay, mean", Group: "Delay",
			Better: BetterLow, Follows: FollowsTrip, Merge: Merge{How: MergeSampleMean, Distribution: RTTs},
			Help: "Mean round-trip delay (RFC 2681) of the probes that returned.",
			Text: "The sum of all round trips divided by their number. A few long ones pull it up, so the median says more " +
				"of what is usual.",
			See:    []string{"round-trip-time", "rtt_median_seconds"},
			Source: "RFC 2681"},
		{Metric: RTTStddev, Label: "Round-trip delay, standard deviation", Group: "Delay", Better: BetterLow, Follows: FollowsTrip,
			Help: "Standard deviation of the round-trip delay (RFC 2681) of the probes that returned.",
			Text: "How far round trips lie from their mean. Delays are not spread evenly about a mean, so percentiles say " +
				"more; older tools print this.",
			See:    []string{"delay-variation", "round-trip-time"},
			Source: "RFC 2681"},
	}
}

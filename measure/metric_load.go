package measure

// Round trips while a transfer loads the path, beside those of the path before it.
const (
	IdleRTT             Metric = "idle_rtt_seconds"          // the least before the transfer
	LoadedRTTMedian     Metric = "loaded_rtt_median_seconds" // once slow start is over
	LoadedRTTP95        Metric = "loaded_rtt_p95_seconds"
	BufferDelay         Metric = "buffer_delay_seconds"         // LoadedRTTMedian less IdleRTT
	BufferDelayRatio    Metric = "buffer_delay_ratio"           // BufferDelay over IdleRTT: may be above 1
	RoundTripsPerMinute Metric = "round_trips_per_minute_count" // 60 s over LoadedRTTMedian
	TCPEfficiency       Metric = "tcp_efficiency_ratio"         // share of the bytes that TCP sent which it sent for the first time
	TransferTimeRatio   Metric = "transfer_time_ratio"          // what the transfer took over what it would have at the path's rate: 1 and more
	FairnessRatio       Metric = "fairness_ratio"               // Jain's index of the flow's throughput and a competing one's; of several such runs the least
	BesideShare         Metric = "beside_share_ratio"           // of the throughput of both that the tested flow got; of several such runs the least
)

func loadMetrics() []Definition {
	return []Definition{
		{Metric: IdleRTT, Label: "Round trip before the load", Group: "Transfer", Better: BetterLow,
			Help: "Least round trip before a transfer began.",
			Text: "The least round trip just before a transfer began, while it was being set up: the baseline of what the transfer adds.",
			See:  []string{"round-trip-time", "loaded_rtt_median_seconds"}, Source: "RFC 6349 section 3.2.1"},
		{Metric: LoadedRTTMedian, Label: "Round trip under load, median", Group: "Transfer", Better: BetterLow, Draw: DrawLine,
			Help: "Median round trip while a transfer ran, once slow start was over.",
			Text: "The usual round trip in the last 60 % of a transfer. It is of small packets beside the transfer where the far end reflects " +
				"them, and else of the transfer's own packets.",
			Shows:  "What another program's packets wait for while the path is busy.",
			See:    []string{"bufferbloat", "buffer_delay_seconds"},
			Source: "RFC 6349 section 4.3, RFC 8762"},
		{Metric: LoadedRTTP95, Label: "Round trip under load, 95th percentile", Group: "Transfer", Better: BetterLow, Draw: DrawLine,
			Help: "95th percentile of round trips while a transfer ran, once slow start was over.",
			Text: "The round trip under load that one packet in twenty exceeds.",
			See:  []string{"loaded_rtt_median_seconds"}},
		{Metric: BufferDelay, Label: "Buffer delay", Group: "Transfer", Better: BetterLow, Draw: DrawLine, Warn: 0.1, Bad: 0.3,
			Help: "Median round trip under load, less the least one before.",
			Text: "How much longer a round trip takes while a transfer runs: what packets wait in queues that the transfer fills, as a rule all of it " +
				"before the narrowest link.",
			Shows:  "Above 100 ms people notice. Near 0, a transfer leaves no queue.",
			See:    []string{"bufferbloat", "queueing-delay"},
			Source: "RFC 6349 section 4.3"},
		{Metric: BufferDelayRatio, Label: "Buffer delay, share of the round trip", Group: "Transfer", Better: BetterLow,
			Help: "Buffer delay over the round trip before the load; 1 is a round trip that doubled.",
			Text: "The buffer delay over the round trip before the load, which RFC 6349 gives in per cent. It is above 1 where the round trip more than doubles.",
			See:  []string{"buffer_delay_seconds"}, Source: "RFC 6349 section 4.3"},
		{Metric: RoundTripsPerMinute, Label: "Responsiveness", Group: "Transfer", Better: BetterHigh, Draw: DrawLine,
			Help: "Round trips per minute while a transfer ran: 60 s over the median round trip under load.",
			Text: "How many times a minute two ends can ask and answer while the path is busy (RPM). It is of packets; the draft also counts what connections, " +
				"TLS and HTTP take.",
			See:    []string{"loaded_rtt_median_seconds", "bufferbloat"},
			Source: "draft-ietf-ippm-responsiveness"},
		{Metric: TCPEfficiency, Label: "TCP efficiency", Group: "Transfer", Better: BetterHigh,
			Help: "Share of the bytes that TCP sent which it sent for the first time, 0 to 1.",
			Text: "The bytes that TCP sent less those that it sent again, over all that it sent. RFC 6349 gives it in per cent.",
			See:  []string{"retransmits_packets", "loss"}, Source: "RFC 6349 section 4.2"},
		{Metric: TransferTimeRatio, Label: "Transfer time, times the ideal", Group: "Transfer", Better: BetterLow, Draw: DrawLine,
			Help: "Time that a transfer took over the time that the same bytes take at the rate of the narrowest link, headers and all.",
			Text: "How many times longer a transfer took than its bytes do at the rate of the narrowest link, as it was told (`path-rate`). Where it was not told there is none. " +
				"1 is the best there is; below it the path carries more than was said.",
			Shows:  "Together with efficiency and buffer delay it says why: loss makes the efficiency fall, full queues make the delay grow, and windows do neither.",
			See:    []string{"throughput_bits_per_second", "capacity_bits_per_second", "tcp_efficiency_ratio"},
			Source: "RFC 6349 section 4.2.1"},
		{Metric: FairnessRatio, Label: "Fairness beside another flow", Group: "Transfer", Better: BetterHigh, Draw: DrawLine,
			Help: "Jain's index of the throughput of a flow and one that competes with it: 1 where both got as much, 0.5 where one got all.",
			Text: "How evenly two flows that began together share the path, of which one may use another congestion control. With shares of 60 and " +
				"40 % it is 0.96, with 80 and 20 % 0.74. Of runs beside several congestion controls it is the least.",
			See:    []string{"congestion-control", "beside_share_ratio"},
			Source: "Jain, Chiu, Hawe (1984), DEC-TR-301"},
		{Metric: BesideShare, Label: "Share beside another flow", Group: "Transfer", Draw: DrawLine,
			Help: "Share of the throughput of two flows that began together which the tested one got, 0 to 1.",
			Text: "What the tested flow got of what both carried. Near 0 the other flow's congestion control leaves it nothing; near 1 it leaves the " +
				"other nothing. Of runs beside several congestion controls it is the least.",
			See: []string{"congestion-control", "fairness_ratio"}},
	}
}

package measure

// Counts of packets and the ratios made of them (RFC 2680, RFC 4737, RFC 5560).
const (
	SentPackets      Metric = "sent_packets"
	ReceivedPackets  Metric = "received_packets"
	LostPackets      Metric = "lost_packets"
	DuplicatePackets Metric = "duplicate_packets"
	ReorderedPackets Metric = "reordered_packets"
	LossRatio        Metric = "loss_ratio"
	LossBurstMax     Metric = "loss_burst_max_packets"
	LossPeriodMean   Metric = "loss_period_mean_packets"
	ReorderingRatio  Metric = "reordering_ratio"
)

func lossMetrics() []Definition {
	all := []Definition{
		{Metric: SentPackets, Label: "Packets sent", Group: "Loss and order",
			Help: "Packets sent in the last measurement.",
			Text: "How many packets the test sent.",
			See:  []string{"received_packets", "loss_ratio"}},
		{Metric: ReceivedPackets, Label: "Packets received", Group: "Loss and order",
			Help: "Packets of the last measurement that arrived.",
			Text: "How many of them arrived, each counted once, whether in order or not.",
			See:  []string{"sent_packets", "duplicate_packets"}},
		{Metric: LostPackets, Label: "Packets lost", Group: "Loss and order", Better: BetterLow,
			Help:   "Packets of the last measurement that did not arrive.",
			Text:   "How many never arrived, or not within the time that the test waited.",
			See:    []string{"loss_ratio", "loss"},
			Source: "RFC 2680, RFC 7680"},
		{Metric: DuplicatePackets, Label: "Packets that came twice", Group: "Loss and order", Better: BetterLow,
			Help: "Packets of the last measurement that arrived again (RFC 5560).",
			Text: "Copies beyond the first. Links that repeat what they believe lost, and loops in flat networks, make " +
				"them.",
			See:    []string{"received_packets"},
			Source: "RFC 5560"},
		{Metric: ReorderedPackets, Label: "Packets that came too late for their place", Group: "Loss and order", Better: BetterLow,
			Help:   "Packets of the last measurement that arrived after a later one (RFC 4737).",
			Text:   "Packets that arrived after one that was sent later.",
			See:    []string{"reordering_ratio", "reordering"},
			Source: "RFC 4737"},
		{Metric: LossRatio, Label: "Loss", Group: "Loss and order",
			Better: BetterLow, Merge: Merge{How: MergeShare, Over: LostPackets, Under: SentPackets}, Warn: 0.001, Bad: 0.01, Draw: DrawBars,
			Help: "Share of the packets sent that were lost (RFC 2680, RFC 2681), 0 to 1.",
			Text: "The share of the packets that were sent and did not arrive. Of echoes, it counts both ways, since either " +
				"may lose one.",
			Shows:  "A hundredth of a percent is much for a fast transfer over a long way, and nothing for a telephone call.",
			See:    []string{"loss", "random-loss", "lossbudget", "mathis"},
			Source: "RFC 2680, RFC 7680"},
		{Metric: LossBurstMax, Label: "Longest run of losses", Group: "Loss and order", Better: BetterLow,
			Help: "Longest run of packets lost one after another.",
			Text: "How many packets in a row were lost at most. Long runs come from outages and full queues, single losses " +
				"from damage.",
			See:    []string{"loss-period", "loss_ratio"},
			Source: "RFC 3357"},
		{Metric: LossPeriodMean, Label: "Mean run of losses", Group: "Loss and order", Better: BetterLow,
			Help: "Mean length of the runs of packets lost one after another (RFC 3357).",
			Text: "How many packets in a row were lost, on average over the runs. Where each packet is lost for itself, it is hardly more " +
				"than 1; where losses come in bursts, 2 and more. Without losses there is none.",
			See:    []string{"loss-period", "loss_burst_max_packets", "loss_ratio"},
			Source: "RFC 3357"},
		{Metric: ReorderingRatio, Label: "Reordering", Group: "Loss and order",
			Better: BetterLow, Merge: Merge{How: MergeShare, Over: ReorderedPackets, Under: ReceivedPackets}, Warn: 0.001, Bad: 0.01, Draw: DrawBars,
			Help:   "Share of the packets received that were reordered (RFC 4737), 0 to 1.",
			Text:   "The share of the packets that arrived after one that was sent later.",
			Shows:  "By three places or more, TCP takes it for loss.",
			See:    []string{"reordering"},
			Source: "RFC 4737"},
	}
	for _, way := range []string{Forward, Reverse} {
		all = append(all, Definition{Metric: Metric("loss_" + way + "_ratio"), Label: "Loss " + way, Group: "Loss and order",
			Better: BetterLow, Warn: 0.001, Bad: 0.01,
			Help: "Share of the packets sent that were lost (RFC 7680), " + way + ", 0 to 1.",
			Text: "The share of the packets that did not arrive, of those that went one way.",
			See:  []string{"loss", "loss_ratio"}, Source: "RFC 7680"})
	}
	return all
}

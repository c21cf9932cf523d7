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
	ReorderingExtent Metric = "reordering_extent_max_packets"
	ReorderingN      Metric = "reordering_n_max_packets"

	// Packets that a host lost and not the path, and packets that came in fragments.
	SenderDropped     Metric = "sender_dropped_packets"
	ReceiverDropped   Metric = "receiver_dropped_packets"
	FragmentedPackets Metric = "fragmented_packets"
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
			Source: "RFC 7680 section 4.1; of echoes RFC 6673 section 6.1"},
		{Metric: LossBurstMax, Label: "Longest run of losses", Group: "Loss and order", Better: BetterLow, Merge: Merge{How: MergeMax},
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
		{Metric: ReorderingExtent, Label: "Extent of reordering", Group: "Loss and order", Better: BetterLow, Merge: Merge{How: MergeMax},
			Help: "Largest extent of reordering (RFC 4737): answers that came between a reordered one and the first that was sent later.",
			Text: "How many answers came between a packet that was too late for its place and the first one that was sent after it: what a receiver has to hold at most.",
			See:  []string{"reordering_ratio", "reordering"}, Source: "RFC 4737 section 4.2"},
		{Metric: ReorderingN, Label: "Largest n-reordering", Group: "Loss and order", Better: BetterLow, Merge: Merge{How: MergeMax},
			Help:  "Largest n for which an answer was n-reordered (RFC 4737).",
			Text:  "How many answers in a row, just before a packet that was too late for its place, were all sent later.",
			Shows: "From 3 on, TCP takes such a packet for lost.",
			See:   []string{"reordering_ratio", "reordering"}, Source: "RFC 4737 section 5.3"},
	}
	all = append(all, hostLossMetrics()...)
	for _, way := range []string{Forward, Reverse} {
		all = append(all, wayLossMetrics(way)...)
	}
	return all
}

// hostLossMetrics are of packets that a host lost and not the path, and of those that came in fragments.
func hostLossMetrics() []Definition {
	return []Definition{
		{Metric: SenderDropped, Label: "Packets that the sending host dropped", Group: "Loss and order", Better: BetterLow,
			Help:  "Packets of the last measurement that the sending host's kernel refused or dropped.",
			Text:  "How many packets never left the sending host, as its kernel had no room for them in the queue of its interface.",
			Shows: "They are among the lost ones, and not the path's: the interface is slower than the rate asked for.",
			See:   []string{"lost_packets", "receiver_dropped_packets"}, Source: "Linux, ip(7), IP_RECVERR"},
		{Metric: ReceiverDropped, Label: "Packets that the receiving host dropped", Group: "Loss and order", Better: BetterLow,
			Help: "Packets of the last measurement that arrived and that the receiving host dropped, as the socket's buffer was full.",
			Text: "How many packets had arrived when the receiving host's kernel dropped them, as the buffer of the test's socket was full: the program did " +
				"not take them in time.",
			Shows: "They are among the lost ones, and not the path's. A busy host or a small net.core.rmem_max is the cause.",
			See:   []string{"lost_packets", "sender_dropped_packets"}, Source: "Linux, socket(7), SO_RXQ_OVFL"},
		{Metric: FragmentedPackets, Label: "Packets that came in fragments", Group: "Loss and order", Better: BetterLow,
			Help:  "Packets of the last measurement that arrived in fragments, and were put together by the receiving host.",
			Text:  "How many datagrams were larger than a link on the way carries, and came in several IP packets.",
			Shows: "A datagram is lost as soon as one of its fragments is: with n fragments, n times as often.",
			See:   []string{"lost_packets", "path_mtu_bytes"}, Source: "RFC 791, RFC 8900"},
	}
}

// The metrics of loss and order of a way, forward or reverse.
func SentOn(way string) Metric         { return Metric("sent_" + way + "_packets") }
func LostOn(way string) Metric         { return Metric("lost_" + way + "_packets") }
func LossOn(way string) Metric         { return Metric("loss_" + way + "_ratio") }
func LossBurstOn(way string) Metric    { return Metric("loss_burst_" + way + "_max_packets") }
func LossPeriodOn(way string) Metric   { return Metric("loss_period_" + way + "_mean_packets") }
func LossDistanceOn(way string) Metric { return Metric("loss_distance_" + way + "_median_packets") }
func DuplicateOn(way string) Metric    { return Metric("duplicate_" + way + "_packets") }
func ReorderedOn(way string) Metric    { return Metric("reordered_" + way + "_packets") }
func ExtentOn(way string) Metric       { return Metric("reordering_extent_" + way + "_max_packets") }

// LargestNOn is the largest n-reordering. Its name says degree, which is something else in the RFC, since archives have it under that.
func LargestNOn(way string) Metric { return Metric("reordering_degree_" + way + "_max_packets") }

// wayLossMetrics are those of packets that went one way, by a test that tells the ways apart.
func wayLossMetrics(way string) []Definition {
	d := func(m Metric, label, help, text, source string, see ...string) Definition {
		return Definition{Metric: m, Label: label + " " + way, Group: "Loss and order", Better: BetterLow,
			Help: help + ", " + way + ".", Text: text, See: see, Source: source}
	}
	sent := d(SentOn(way), "Packets sent", "Packets sent in the last measurement", "How many packets were sent that way.", "", "loss_ratio")
	sent.Better = BetterNone
	loss := d(LossOn(way), "Loss", "", "The share of the packets that did not arrive, of those that went one way.", "RFC 7680", "loss", "loss_ratio")
	loss.Help = "Share of the packets sent that were lost (RFC 7680), " + way + ", 0 to 1."
	loss.Warn, loss.Bad, loss.Merge = 0.001, 0.01, Merge{How: MergeShare, Over: LostOn(way), Under: SentOn(way)}
	largest := func(d Definition) Definition {
		d.Merge = Merge{How: MergeMax}
		return d
	}
	return []Definition{
		sent,
		d(LostOn(way), "Packets lost", "Packets of the last measurement that did not arrive (RFC 7680)",
			"How many of the packets that were sent that way never arrived, or not within the time that the test waited.", "RFC 7680", "loss"),
		loss,
		largest(d(LossBurstOn(way), "Longest run of losses", "Longest run of packets lost one after another (RFC 3357)",
			"How many packets in a row were lost at most.", "RFC 3357", "loss-period", "run-length")),
		d(LossPeriodOn(way), "Mean run of losses", "Mean length of the runs of packets lost one after another (RFC 3357)",
			"How many packets in a row were lost, on average over the runs. Without losses there is none.", "RFC 3357", "loss-period"),
		d(LossDistanceOn(way), "Loss distance", "Median of how many packets after the one before a packet was lost (RFC 3357)",
			"Losses that come in runs are 1 apart; losses by chance about as far as one by the loss ratio. Fewer than two losses have none.",
			"RFC 3357", "loss-distance", "loss-period"),
		d(DuplicateOn(way), "Packets that came twice", "Packets of the last measurement that arrived again (RFC 5560)",
			"Copies beyond the first.", "RFC 5560", "duplicates"),
		d(ReorderedOn(way), "Packets that came too late for their place",
			"Packets of the last measurement that arrived after a later one (RFC 4737)",
			"Packets that arrived after one that was sent later.", "RFC 4737", "reordering"),
		largest(d(ExtentOn(way), "Reordering extent", "Largest extent of reordering (RFC 4737 section 4.2)",
			"By how many places a packet came too late at most: so many a receiver that wants them in order has to hold.", "RFC 4737",
			"reordering-extent", "reordering")),
		largest(d(LargestNOn(way), "Largest n-reordering", "Largest n for which a packet was n-reordered (RFC 4737 section 5)",
			"The n packets just before it were all sent later than it. TCP takes three of them for a loss. What the RFC calls the degree is the "+
				"share of the packets that are n-reordered.", "RFC 4737",
			"reordering", "duplicate-ack")),
	}
}

package measure

// What a multicast group is as a whole, as one of its members knows it.
const (
	GroupMembers    Metric = "group_members_count"
	GroupUntold     Metric = "group_untold_pairs_count"
	GroupLossWorst  Metric = "group_loss_worst_ratio"
	GroupDelayWorst Metric = "group_delay_worst_seconds"
)

func groupMetrics() []Definition {
	return []Definition{
		{Metric: GroupMembers, Label: "Members of the group", Group: "Multicast", Better: BetterHigh, Draw: DrawSteps,
			Help: "Members of the multicast group that were heard or heard of, this host among them.",
			Text: "How many members of a multicast group this host knew at the end, itself among them.",
			See:  []string{"group_untold_pairs_count", "group_loss_worst_ratio"}},
		{Metric: GroupUntold, Label: "Pairs of the group that are not known", Group: "Multicast", Better: BetterLow,
			Help:  "Pairs of members of the multicast group of which the receiver told nothing.",
			Text:  "Of how many pairs of sender and receiver this host has no figures.",
			Shows: "Whom nobody hears tells nobody what it received.",
			See:   []string{"group_members_count"}},
		{Metric: GroupLossWorst, Label: "Loss of the worst pair", Group: "Multicast", Better: BetterLow, Warn: 0.001, Bad: 0.01, Draw: DrawBars,
			Help:  "Share of the packets lost between those two members of the multicast group between which it was the largest, 0 to 1.",
			Text:  "The loss of that pair of sender and receiver which lost most, of all pairs in a multicast group.",
			Shows: "Large with a small loss over all pairs: one branch of the tree loses.",
			See:   []string{"loss_ratio", "group_members_count"}, Source: "RFC 7680"},
		{Metric: GroupDelayWorst, Label: "Delay of the worst pair", Group: "Multicast", Better: BetterLow,
			Help:   "Largest median of the one-way delays between two members of the multicast group, by their clocks.",
			Text:   "The median of the one-way delays of that pair of sender and receiver for which it is largest, as their clocks show it.",
			See:    []string{"group_loss_worst_ratio", "clock-synchronisation"},
			Source: "RFC 7679"},
	}
}

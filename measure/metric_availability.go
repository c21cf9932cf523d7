package measure

// Connectivity and availability: of echoes both ways at once, and of each way by tests that tell the ways apart.
const (
	Connectivity  Metric = "connectivity_ratio"
	Availability  Metric = "availability_ratio"
	OutageLongest Metric = "outage_longest_seconds"
	Outages       Metric = "outages_count"

	PortOpenRatio Metric = "port_open_ratio" // of connections that were tried to a TCP port
)

// Connectivity, availability and outages of one way, forward or reverse.
func ConnectivityOn(way string) Metric  { return Metric("connectivity_" + way + "_ratio") }
func AvailabilityOn(way string) Metric  { return Metric("availability_" + way + "_ratio") }
func OutageLongestOn(way string) Metric { return Metric("outage_longest_" + way + "_seconds") }
func OutagesOn(way string) Metric       { return Metric("outages_" + way + "_count") }

// outageText is when losses are an outage, as stat.OutageRule has it by itself.
const outageText = "An outage is three or more packets lost one after another and lasts at least 0.2 s, counted from when the first of them was sent " +
	"to when the first was that arrived again; anything shorter is loss."

func availabilityMetrics() []Definition {
	all := connectivityMetrics("", Connectivity, Availability, OutageLongest, Outages)
	for _, way := range []string{Forward, Reverse} {
		all = append(all, connectivityMetrics(way, ConnectivityOn(way), AvailabilityOn(way), OutageLongestOn(way), OutagesOn(way))...)
	}
	return append(all, Definition{Metric: PortOpenRatio, Label: "Connections that open", Group: "Availability", Better: BetterHigh, Warn: 0.999, Bad: 0.5, Draw: DrawSteps,
		Help:  "Share of the connections tried to a TCP port that opened, 0 to 1.",
		Text:  "How many of the connections that were tried to the port of a service opened. The others were refused, or nothing answered them in time.",
		Shows: "At 0 the service is down, or a firewall is in the way; the Result says which. In between a queue overflows, or some of several servers are down.",
		See:   []string{"connectivity"}, Source: "RFC 9293 section 3.5"})
}

// connectivityMetrics are those of a way; "": of requests and their answers, both ways in turn.
func connectivityMetrics(way string, connectivity, availability, longest, outages Metric) []Definition {
	label, help, section := "", ", both ways", "6.4"
	if way != "" {
		label, help, section = " "+way, ", "+way, "4.4"
	}
	return []Definition{
		{Metric: connectivity, Label: "Connectivity" + label, Group: "Availability", Better: BetterHigh, Warn: 0.999, Bad: 0.5,
			Help: "1 if any packet of the last measurement got through (RFC 2678)" + help + ", else 0.",
			Text: "Whether there was connectivity at any moment of the measurement. Over many runs it is the share of the runs in which there was.",
			See:  []string{"connectivity", "loss_ratio"}, Source: "RFC 2678 section " + section},
		{Metric: availability, Label: "Availability" + label, Group: "Availability", Better: BetterHigh, Warn: 0.999, Bad: 0.99,
			Help:  "Share of the time of the last measurement without an outage" + help + ", 0 to 1.",
			Text:  outageText + " Over many runs it is the mean of theirs: each stands for the time until the next.",
			Shows: "Loss that is spread leaves it at 1; a link that goes down for a while does not.",
			See:   []string{"availability-of-a-path", "outage", "connectivity"}},
		{Metric: longest, Label: "Longest outage" + label, Group: "Availability", Better: BetterLow, Merge: Merge{How: MergeMax},
			Help: "How long the longest outage of the last measurement lasted" + help + "; 0 without any.",
			Text: outageText + " Over many runs it is the longest that any of them saw; one that goes on between two runs is seen in part by each.",
			See:  []string{"outage", "availability-of-a-path"}},
		{Metric: outages, Label: "Outages" + label, Group: "Availability", Better: BetterLow, Merge: Merge{How: MergeSum},
			Help: "Outages in the last measurement" + help + ".",
			Text: outageText + " Over many runs it is how many they saw in all; one that goes on between two runs is seen by each.",
			See:  []string{"outage", "availability-of-a-path"}},
	}
}

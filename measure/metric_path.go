package measure

// What the path is.
const (
	Capacity Metric = "capacity_bits_per_second" // of the IP layer, at the narrowest link

	// MaxIPCapacity is the most that came in a second of a search by RFC 9097: of the IP layer, beside whatever else used the path.
	MaxIPCapacity Metric = "max_ip_capacity_bits_per_second"

	// Available is what the narrowest link has left beside other traffic (RFC 5136); of a range, its low end.
	Available Metric = "available_bits_per_second"

	// Sustained is what a token bucket on the path passes for long, and BucketSize what it passes at once beyond that.
	Sustained  Metric = "sustained_bits_per_second"
	BucketSize Metric = "bucket_bytes"

	// NarrowestLink is the rate of the slowest link of a route with its own headers, where that one is known, and KnownLinks of how many links the rate is.
	NarrowestLink Metric = "narrowest_link_bits_per_second"
	KnownLinks    Metric = "known_links_count"

	// PathMTU is of the way there, ReversePathMTU of the way back, as far as it was tried: up to that of the way there.
	PathMTU        Metric = "path_mtu_bytes"
	ReversePathMTU Metric = "reverse_path_mtu_bytes"

	// Serialization is the rate of the one link that would take as long for each byte as all links of the path do in turn.
	Serialization Metric = "serialization_bits_per_second"

	HopCount Metric = "hop_count"

	// ReverseHopCount is of the way back, by what is left of the time to live of answers: that they began with 64, 128 or 255,
	// the least that fits, is taken for granted.
	// A trace of both ways counts the hops.
	ReverseHopCount Metric = "reverse_hop_count"

	// OneWayLinks is of the places of a route and the one back; it is there only where the links of some could be told.
	OneWayLinks Metric = "one_way_links_count"

	// PacketChanges is of a trace that looks for middleboxes.
	PacketChanges Metric = "packet_changes_count"
)

func pathMetrics() []Definition {
	return append([]Definition{
		{Metric: Capacity, Label: "Capacity", Group: "Path", Better: BetterHigh, Draw: DrawLine,
			Help:   "Capacity of the narrowest link, at the IP layer (RFC 5136).",
			Text:   "What the narrowest link of the path can carry, counted in IP packets, if nobody else uses it.",
			Shows:  "A transfer gets less than that by the share of headers, even where all is well.",
			See:    []string{"bottleneck", "overhead", "available_bits_per_second", "path-full"},
			Source: "RFC 5136"},
		{Metric: MaxIPCapacity, Label: "Maximum IP-layer capacity", Group: "Path", Better: BetterHigh, Draw: DrawLine,
			Help:   "The most IP packets that came in one second of a search (RFC 9097).",
			Text:   "A search offers the path more and more, and this is what came through in its best second, counted in IP packets with their headers.",
			Shows:  "Other traffic on the path takes its share of it. Goodput in the same second is less by the headers.",
			See:    []string{"capacity_bits_per_second", "available_bits_per_second", "throughput_bits_per_second"},
			Source: "RFC 9097"},
		{Metric: Available, Label: "Available bandwidth", Group: "Path", Better: BetterHigh, Draw: DrawLine,
			Help: "What the narrowest link has left beside other traffic (RFC 5136), its low end.",
			Text: "What the narrowest link has left beside the traffic of others. Where a tool gives a range, this is its " +
				"low end.",
			See:    []string{"capacity_bits_per_second", "cross-traffic"},
			Source: "RFC 5136"},
		{Metric: Sustained, Label: "Sustained rate", Group: "Path", Better: BetterHigh, Draw: DrawLine,
			Help:  "What a token bucket on the path passes for long, at the IP layer.",
			Text:  "The rate of a policer or a shaper with a token bucket: the first bytes after a pause pass at the rate of the link, what follows no faster than this.",
			Shows: "It is there where a bucket showed alone. A transfer of more than a few times bucket_bytes gets no more than this, and not the capacity.",
			See:   []string{"bucket_bytes", "capacity_bits_per_second", "policer"}},
		{Metric: BucketSize, Label: "Token bucket", Group: "Path", Better: BetterHigh,
			Help:  "Bytes that a token bucket on the path passes at once after a pause.",
			Text:  "What a policer or a shaper lets pass at the rate of the link after a pause, beyond its sustained rate.",
			Shows: "A bucket larger than what a measurement sends in a row does not show.",
			See:   []string{"sustained_bits_per_second", "policer"}},
		{Metric: Serialization, Label: "Serialization", Group: "Path", Better: BetterHigh,
			Help:  "Rate of the one link over which each byte would take as long as over all links of the path in turn.",
			Text:  "By how much the shortest round trips grow with the size of packets, as a rate: the inverse of the sum of the inverse rates of all links, if both ways are alike.",
			Shows: "It is below the capacity of the narrowest link, and near it where the others are much faster.",
			See:   []string{"capacity_bits_per_second", "serialization-delay"}},
		{Metric: NarrowestLink, Label: "Slowest link of the route", Group: "Path", Better: BetterHigh, Draw: DrawLine,
			Help:  "Rate of the slowest link of the route, with the link's own headers.",
			Text:  "How fast the slowest link of the route sends bits, found by how the shortest round trips to each hop grow with the size of packets.",
			Shows: "It is there where no link whose rate is not known can be slower. IP packets get less than it by the link's own headers: capacity_bits_per_second.",
			See:   []string{"capacity_bits_per_second", "serialization-delay", "known_links_count"}},
		{Metric: KnownLinks, Label: "Links whose rate is known", Group: "Path", Better: BetterHigh, Follows: FollowsTrip,
			Help: "Links of the route whose rate is known within 15 %.",
			Text: "Of how many links of the route the rate was found with certainty. Of others the Result says why it was not.",
			See:  []string{"narrowest_link_bits_per_second", "hop_count"}},
	}, routeMetrics()...)
}

// routeMetrics are those of which packets pass, over how many hops.
func routeMetrics() []Definition {
	return []Definition{
		{Metric: PathMTU, Label: "Path MTU", Group: "Path", Better: BetterHigh, Follows: FollowsTrip, Warn: 1499, Bad: 1279, Draw: DrawSteps,
			Help:   "Largest packet that the path carries whole.",
			Text:   "The largest IP packet that gets through to the far end in one piece.",
			Shows:  "1500 is usual; 9000 with jumbo frames all the way; somewhat under 1500 through a tunnel.",
			See:    []string{"mtu", "pmtu-blackhole", "jumbo-frames"},
			Source: "RFC 1191, RFC 8201, RFC 8899"},
		{Metric: ReversePathMTU, Label: "Path MTU back", Group: "Path", Better: BetterHigh, Follows: FollowsTrip, Warn: 1499, Bad: 1279, Draw: DrawSteps,
			Help:   "Largest packet that the way back carries whole, up to that of the way there.",
			Text:   "The largest IP packet that comes from the far end in one piece, tried up to the size that the way there carries.",
			Shows:  "Where it is less than path_mtu_bytes the two ways differ: a link of the way back alone takes less, or a router there drops what is larger.",
			See:    []string{"path_mtu_bytes", "mtu", "pmtu-blackhole"},
			Source: "RFC 8899, RFC 8762"},
		{Metric: HopCount, Label: "Hops", Group: "Path", Better: BetterLow, Follows: FollowsTrip, Warn: 16, Bad: 25, Draw: DrawSteps,
			Help:  "Hops to the target.",
			Text:  "How many routers a packet passes, and the far end.",
			Shows: "A change is another route. Some hops do not answer, and are counted all the same.",
			See:   []string{"route", "path-change"}},
		{Metric: ReverseHopCount, Label: "Hops back", Group: "Path", Better: BetterLow, Follows: FollowsTrip, Warn: 16, Bad: 25, Draw: DrawSteps,
			Help: "Hops of the way back, by the time to live of answers.",
			Text: "How many routers an answer passed on its way back, and this end. Each router takes one from the time to live of a packet, " +
				"and hosts begin with 64, 128 or 255, so that what is left on arrival tells.",
			Shows: "A change is another way back. Where it differs from hop_count, the ways there and back are not the same; where it does " +
				"not, they may still be.",
			See:    []string{"hop_count", "route"},
			Source: "RFC 791, RFC 8200"},
		{Metric: OneWayLinks, Label: "Links of one way alone", Group: "Path", Better: BetterLow, Follows: FollowsTrip, Draw: DrawSteps,
			Help: "Links that are surely on the way there alone, or on the way back alone.",
			Text: "How many places of the route have another link on the way there than on the way back, as far as the addresses of routers tell. Each way has its " +
				"own delay, load and faults then, so that what a round trip shows may be of either.",
			Shows: "0 where the ways are the same, or where what differs does not show.", See: []string{"hop_count", "reverse_hop_count", "route"}},
		{Metric: PacketChanges, Label: "Changes on the way", Group: "Path", Better: BetterLow, Follows: FollowsTrip, Draw: DrawSteps,
			Help:  "Header fields and options of TCP SYNs that were changed on the way.",
			Text:  "How often a field or an option of a TCP SYN is not as it was at the place before: its MSS, window scale, SACK, time stamps, ECN, DSCP, addresses and so on.",
			Shows: "A box that takes out window scale or SACK makes transfers slow; one that lowers the MSS fits packets into a tunnel. The Result says which, and between which hops.",
			See:   []string{"hop_count", "route"}},
	}
}

// A diagnosis: goodput from the source to the target, and what the narrowest link can carry of it.
const (
	Achieved Metric = "achieved_bits_per_second"
	Expected Metric = "expected_bits_per_second"
)

func diagnosisMetrics() []Definition {
	return []Definition{
		{Metric: Achieved, Label: "Achieved, as a diagnosis found it", Group: "Diagnosis", Better: BetterHigh,
			Help: "Goodput that a diagnosis of the path achieved.",
			Text: "The goodput of the transfer that a diagnosis made to see what limits the path.",
			See:  []string{"throughput_bits_per_second", "expected_bits_per_second"}},
		{Metric: Expected, Label: "Expected of the path", Group: "Diagnosis", Better: BetterHigh,
			Help: "Goodput that the narrowest link could carry, by a diagnosis of the path.",
			Text: "The goodput that the narrowest link can carry, which is its capacity less headers. A diagnosis that " +
				"could not measure the capacity leaves it out.",
			See: []string{"achieved_bits_per_second", "capacity-unknown", "capacity_bits_per_second"}},
	}
}

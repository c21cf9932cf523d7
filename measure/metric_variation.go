package measure

// Jitter is the smoothed difference of the time on the way between one packet and the next (RFC 3550, 6.4.1).
const Jitter Metric = "jitter_seconds"

// The metrics of delay variation of a way, forward or reverse.
func IPDVP95(way string) Metric      { return Metric("ipdv_" + way + "_p95_seconds") }
func PDVP95(way string) Metric       { return Metric("pdv_" + way + "_p95_seconds") }
func OneWaySpread(way string) Metric { return Metric("owd_" + way + "_spread_seconds") }
func Playout(way string) Metric      { return Metric("playout_" + way + "_seconds") }

// MOS and Rating are what speech over a way would be worth.
func MOS(way string) Metric    { return Metric("mos_" + way + "_score") }
func Rating(way string) Metric { return Metric("rating_" + way + "_score") }

// variationMetrics are of the variation of one-way delay (RFC 3393, RFC 5481), forward and reverse as oneWayMetrics.
func variationMetrics() (all []Definition) {
	for _, way := range []string{Forward, Reverse} {
		all = append(all,
			Definition{Metric: IPDVP95(way), Label: "Delay variation " + way + ", 95th percentile",
				Group: "Variation", Better: BetterLow, Warn: 0.005, Bad: 0.02, Draw: DrawLine,
				Help: "95th percentile of the delay variation between packets (RFC 3393), " + way + ".",
				Text: "How much the one-way delay differs from one packet to the next: of twenty, nineteen differ by less.",
				See:  []string{"ipdv", "delay-variation"}, Source: "RFC 3393, RFC 5481"},
			Definition{Metric: PDVP95(way), Label: "Delay above the minimum " + way + ", 95th percentile", Group: "Variation", Better: BetterLow,
				Help:  "95th percentile of the packet delay variation against the least delay (RFC 5481), " + way + ".",
				Text:  "How much longer than the fastest packet nineteen of twenty took at most. Clocks that are apart do not change it.",
				Shows: "It is the time in queues that most packets do not exceed.",
				See:   []string{"packet-delay-variation", "queueing-delay"}, Source: "RFC 5481"},
			Definition{Metric: OneWaySpread(way), Label: "One-way jitter " + way, Group: "Variation", Better: BetterLow,
				Help: "From the median one-way delay to its 95th percentile, " + way + ".",
				Text: "What owping calls jitter. Clocks that are apart do not change it.",
				See:  []string{"delay-variation", "percentile"}},
			Definition{Metric: Playout(way), Label: "Playout buffer needed " + way, Group: "Variation", Better: BetterLow,
				Help: "Delay that a playout buffer must add so that at most 1 packet in 1000 comes too late, " + way + ".",
				Text: "The 99.9th percentile of the delay above the least one: so long a receiver of speech or video has to hold packets back. " +
					"It needs some thousand packets to mean more than the slowest of them.",
				See: []string{"playout-buffer", "packet-delay-variation"}, Source: "ITU-T Y.1541"})
	}
	return append(all, Definition{Metric: Jitter, Label: "Jitter", Group: "Variation",
		Better: BetterLow, Warn: 0.005, Bad: 0.02, Draw: DrawLine,
		Help: "Interarrival jitter (RFC 3550).",
		Text: "How much the time on the way changes from one packet to the next, smoothed as receivers of speech and " +
			"video do.",
		See:    []string{"jitter", "delay-variation"},
		Source: "RFC 3550 section 6.4.1"})
}

// speechMetrics are of what people who talk over the path would say of it.
func speechMetrics() (all []Definition) {
	for _, way := range []string{Forward, Reverse} {
		all = append(all,
			Definition{Metric: MOS(way), Label: "Speech quality " + way, Group: "Speech", Better: BetterHigh, Warn: 4, Bad: 3.6,
				Help: "Mean opinion score of speech over the path (ITU-T G.107), " + way + ", 1 to 4.5.",
				Text: "The score that people would give a call: by the delay with a playout buffer that is long enough, the losses and how they " +
					"come in runs, for G.711 that conceals losses.",
				Shows: "From 4.0 on people are satisfied, below 3.6 many are not, below 3.1 nearly all. Where the clocks are apart, half of the " +
					"round trip stands for the delay.",
				See: []string{"voice-quality", "playout-buffer"}, Source: "ITU-T G.107, G.109"},
			Definition{Metric: Rating(way), Label: "Transmission rating " + way, Group: "Speech", Better: BetterHigh,
				Help: "Transmission rating R of speech over the path (ITU-T G.107), " + way + ", 0 to 93.2.",
				Text: "What the score of speech quality is made of: 93.2 less what delay and loss take away.",
				See:  []string{"voice-quality"}, Source: "ITU-T G.107"})
	}
	return all
}

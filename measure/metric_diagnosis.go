package measure

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

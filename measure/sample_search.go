package measure

// CapacitySearch is a search of the maximum IP-layer capacity within one test, by RFC 9097: what it was made with, and what the receiver counted.
type CapacitySearch struct {
	PacketBytes        int     `json:"packet_bytes"`          // of each IP packet, with its headers
	StartBitsPerSecond float64 `json:"start_bits_per_second"` // of IP packets, as are all rates here
	MostBitsPerSecond  float64 `json:"most_bits_per_second"`  // that the sender would go up to
	FeedbackSeconds    float64 `json:"feedback_seconds"`      // between two reports of the receiver
	LowDelaySeconds    float64 `json:"low_delay_seconds"`     // of the mean delay above its least: below it the rate goes up
	HighDelaySeconds   float64 `json:"high_delay_seconds"`    // above it the rate goes down
	SequenceErrors     int     `json:"sequence_errors_packets"`
	// SubIntervals are those that were whole, in their order. Best is the index of the one in which most came.
	SubIntervals []SubInterval `json:"sub_intervals"`
	Best         int           `json:"best"`
}

// SubInterval is what the receiver of a CapacitySearch counted in one of its sub-intervals. Delays are above the least of the whole test.
type SubInterval struct {
	StartSeconds     float64 `json:"start_seconds"`
	EndSeconds       float64 `json:"end_seconds"`
	BitsPerSecond    float64 `json:"bits_per_second"`
	Packets          int64   `json:"packets"`
	LostPackets      int64   `json:"lost_packets"`
	ReorderedPackets int64   `json:"reordered_packets"`
	DuplicatePackets int64   `json:"duplicate_packets"`
	LeastDelay       float64 `json:"least_delay_seconds"`
	MeanDelay        float64 `json:"mean_delay_seconds"`
	MostDelay        float64 `json:"most_delay_seconds"`
}

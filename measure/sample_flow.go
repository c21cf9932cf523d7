package measure

// FlowSample is a flow of a script: what its sender sent, and what arrived of it.
type FlowSample struct {
	Name         string  `json:"name"`
	Direction    string  `json:"direction"` // Forward or Reverse
	SourcePort   int     `json:"source_port"`
	TargetPort   int     `json:"target_port"`
	StartSeconds float64 `json:"start_seconds"` // since the script began, by the script
	EndSeconds   float64 `json:"end_seconds"`

	Sent      int   `json:"sent_packets"`
	SentBytes int64 `json:"sent_bytes"` // of UDP payload
	// Of packets that the script has and that were not sent: those that its sender could have sent only much too late, and those that its kernel refused.
	Skipped int `json:"skipped_packets"`
	Refused int `json:"refused_packets"`
	// By how much packets left later than the script says, of those that left.
	LateP95Seconds float64 `json:"late_p95_seconds"`
	LateMaxSeconds float64 `json:"late_max_seconds"`

	Arrived *FlowArrivals `json:"arrived"` // nil: the far end did not tell all
	SoFar   int           `json:"received_so_far_packets,omitempty"`
}

// FlowArrivals is what arrived of a flow.
type FlowArrivals struct {
	Received         int   `json:"received_packets"` // each counted once
	ReceivedBytes    int64 `json:"received_bytes"`
	Lost             int   `json:"lost_packets"`
	LossRuns         int   `json:"loss_period_count"` // runs of packets lost one after another
	LossBurstMax     int   `json:"loss_burst_max_packets"`
	Duplicates       int   `json:"duplicate_packets"`
	Reordered        int   `json:"reordered_packets"`
	ReorderingExtent int   `json:"reordering_extent_max_packets"`
	Remarked         int   `json:"remarked_packets"` // arrived with another DSCP than they left with

	BitsPerSecond  float64 `json:"throughput_bits_per_second"` // of UDP payload, over the flow's time
	IPDVP95Seconds float64 `json:"ipdv_p95_seconds"`
	PDVP95Seconds  float64 `json:"pdv_p95_seconds"` // of the delay above the least one
	PDVMaxSeconds  float64 `json:"pdv_max_seconds"`

	OverTime *FlowOverTime `json:"over_time,omitempty"`
}

// FlowOverTime is what became of the packets of a flow over time: each list has a value for each interval of the script, of the packets that were due
// in it, the first beginning with the script.
type FlowOverTime struct {
	IntervalSeconds float64    `json:"interval_seconds"`
	Sent            []int      `json:"sent_packets"`
	Received        []int      `json:"received_packets"`
	ReceivedBytes   []int64    `json:"received_bytes"`
	DelayMean       []*float64 `json:"delay_mean_seconds"` // above the least one of the flow; nil: none arrived
	DelayMax        []*float64 `json:"delay_max_seconds"`
}

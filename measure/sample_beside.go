package measure

// BesideSample is what came of a transfer and a competing one, which began with it and differs from it in congestion control alone;
// or of the transfer alone.
type BesideSample struct {
	CongestionControl string      `json:"congestion_control,omitempty"` // asked of the competing flow; "": the tested one was alone
	Tested            BesideFlow  `json:"tested"`
	Competing         *BesideFlow `json:"competing,omitempty"`
	ApartSeconds      float64     `json:"apart_seconds,omitempty"` // from the first data of one flow to the first of the other

	// Metrics are of all flows of the run together: FairnessRatio, Throughput, and what they did to round trips.
	Metrics      map[Metric]float64 `json:"metrics,omitempty"`
	RoundTripsBy string             `json:"round_trips_by,omitempty"` // "stamp": packets beside the flows; "tcp_info": the tested flow's own
	Failure      string             `json:"failure,omitempty"`        // why there are no figures
}

// BesideFlow is one of the flows of a BesideSample. What its sender's kernel did not tell is nil or "".
type BesideFlow struct {
	CongestionControl  string   `json:"congestion_control,omitempty"` // that was used
	BitsPerSecond      float64  `json:"bits_per_second"`              // goodput, as Throughput
	ReceivedBytes      float64  `json:"received_bytes"`
	ShareRatio         float64  `json:"share_ratio"` // of the throughput of all flows of the run
	Retransmits        *float64 `json:"retransmits_packets,omitempty"`
	RetransmittedRatio *float64 `json:"retransmitted_ratio,omitempty"` // of the bytes that were sent
	RTTMedianSeconds   *float64 `json:"rtt_median_seconds,omitempty"`  // of its own packets, as TCP smooths it, once slow start was over
}

package measure

// GroupReceiver is what one receiver of a multicast group counted of a transfer to it.
type GroupReceiver struct {
	Host             string  `json:"host"` // as it was named
	Address          string  `json:"address,omitempty"`
	Interface        string  `json:"interface,omitempty"` // that it joined the group on
	BitsPerSecond    float64 `json:"bits_per_second"`     // of payload
	SentPackets      int64   `json:"sent_packets"`
	LostPackets      int64   `json:"lost_packets"`
	LossRatio        float64 `json:"loss_ratio"`
	ReorderedPackets int64   `json:"reordered_packets"`
	DuplicatePackets int64   `json:"duplicate_packets"`
	DroppedPackets   int64   `json:"receiver_dropped_packets"` // of the lost ones: that had arrived, and found its buffer full
	JitterSeconds    float64 `json:"jitter_seconds"`
	PDVSeconds       float64 `json:"pdv_p95_seconds,omitempty"` // 0: not known
	Failure          string  `json:"failure,omitempty"`         // why it did not tell what it counted; "": it did
}

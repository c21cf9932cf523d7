package measure

// PathCapacity is what trains and streams told of a path, certain or not. Rates are of the IP layer.
type PathCapacity struct {
	Capacity  RateEstimate  `json:"capacity"`            // of the narrowest link; of a path with a token bucket, what passes at once
	Standard  string        `json:"standard,omitempty"`  // the standard rate that is nearest, where one is near
	Modes     []RateMode    `json:"modes"`               // of the rates at which packets came, the strongest first
	Bucket    *TokenBucket  `json:"bucket,omitempty"`    // nil: none showed
	Available *RateEstimate `json:"available,omitempty"` // nil: not asked for
	// AsymptoticBitsPerSecond is the rate at which long trains arrived as a whole: from what is free to the capacity.
	AsymptoticBitsPerSecond float64        `json:"asymptotic_bits_per_second"`
	Streams                 []StreamSample `json:"streams,omitempty"`
}

// RateEstimate is a rate and where it lies with 90 % confidence.
type RateEstimate struct {
	BitsPerSecond float64 `json:"bits_per_second"` // 0: nothing is known
	Low           float64 `json:"low_bits_per_second"`
	High          float64 `json:"high_bits_per_second"`
	Certain       bool    `json:"certain"`
	Doubt         string  `json:"doubt,omitempty"` // why it is not certain
}

// LinkSample is one link of a route, the one to the hop of its TTL. Its rate is with the link's own headers.
type LinkSample struct {
	TTL       int          `json:"ttl"`
	Addresses []string     `json:"addresses"`         // that answered at its far end, in order of first answer
	Capacity  RateEstimate `json:"capacity"`          // a high end of 0: no bound is known
	Delay     *float64     `json:"delay_seconds"`     // one way, if the way back is like the way there; nil: not known
	Queue     *float64     `json:"queue_rtt_seconds"` // by how much the median round trip waits longer here than the shortest; nil: not known
	Sent      int          `json:"sent_packets"`
	Received  int          `json:"received_packets"` // answers
}

// RateMode is a rate near which many packets came.
type RateMode struct {
	BitsPerSecond float64 `json:"bits_per_second"`
	Share         float64 `json:"share"` // of all
}

// TokenBucket is a policer or a shaper: so many bytes pass at the rate of the link, what follows at its own.
type TokenBucket struct {
	Rate  RateEstimate `json:"rate"`
	Bytes float64      `json:"bytes"` // 0: not known
	Drops bool         `json:"drops"` // it drops what is above; else it holds it back
}

// StreamSample is a stream of packets at a rate, and how it arrived.
type StreamSample struct {
	BitsPerSecond float64 `json:"bits_per_second"` // at which it was sent
	Strain        float64 `json:"strain_ratio"`    // by which share it arrived more slowly than it was sent
	Loss          float64 `json:"loss_ratio"`
	Seconds       float64 `json:"seconds"`
}

package measure

// PathsSample is all paths that a trace found to a target over equal-cost links, as a graph.
type PathsSample struct {
	Vertices []PathVertex `json:"vertices"` // in the order of their hops
	Links    []PathLink   `json:"links"`
	// Confidence is the probability that no path is missing, if every router spreads evenly over its next hops.
	Confidence  float64 `json:"confidence_ratio"`
	Complete    bool    `json:"complete"` // false: the search was ended before it was sure
	SentPackets int     `json:"sent_packets"`
	Flows       int     `json:"flows"` // that they belonged to, each with a destination port of its own
}

// PathVertex is an interface that answers at a hop.
type PathVertex struct {
	TTL       int      `json:"ttl"`
	Address   string   `json:"address"` // "": nothing answers there
	Final     bool     `json:"final,omitempty"`
	Balancing string   `json:"balancing,omitempty"`   // over its next hops: flow or packet
	Flows     int      `json:"flows"`                 // that were seen here
	RTT       *float64 `json:"rtt_seconds,omitempty"` // the least of an answer
}

// PathLink is a way from one vertex to one of the next hop; both are indices.
type PathLink struct {
	From       int  `json:"from"`
	To         int  `json:"to"`
	Certain    bool `json:"certain"`              // false: balancing by packet hides whether it exists
	Translated bool `json:"translated,omitempty"` // addresses or ports of packets are others behind it
}

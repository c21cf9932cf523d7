package measure

// Hop is one step of a route. Addresses holds each address that answered at this TTL, in order of first answer;
// RTTSeconds has one entry for each probe, nil where nothing came back.
type Hop struct {
	TTL        int        `json:"ttl"`
	Addresses  []string   `json:"addresses"`
	RTTSeconds []*float64 `json:"rtt_seconds"`
	Reply      string     `json:"reply,omitempty"`       // what kind of answer ended the route, when not "time exceeded"
	Annotation string     `json:"annotation,omitempty"`  // of that answer as traceroute has it, such as !X
	ReturnHops int        `json:"return_hops,omitempty"` // that its answer passed, by the initial TTL next above its own; 0: not known

	// These are what routers told of the packets that they answered, where they tell it, and where it is not as sent.
	DSCP       *int        `json:"dscp,omitempty"`       // that the packet came with
	ECN        *int        `json:"ecn,omitempty"`        // that the packet came with
	QuotedTTL  *int        `json:"quoted_ttl,omitempty"` // that the packet came with, where that is not 1
	MPLS       []MPLSLabel `json:"mpls,omitempty"`       // that the packet came with, outermost first (RFC 4950)
	Interfaces []HopPort   `json:"interfaces,omitempty"` // RFC 5837
	Fault      string      `json:"fault,omitempty"`      // why what it told behind the quote was dropped
}

// MPLSLabel is an entry of a label stack.
type MPLSLabel struct {
	Label uint32 `json:"label"`
	Class int    `json:"class"` // traffic class
	TTL   int    `json:"ttl"`
}

// HopPort is an interface that a router told of. What it did not tell is zero.
type HopPort struct {
	Role    string `json:"role"` // "arrived by", "arrived by part", "would leave by", "next hop"
	Index   uint32 `json:"index,omitempty"`
	Address string `json:"address,omitempty"`
	Name    string `json:"name,omitempty"`
	MTU     uint32 `json:"mtu_bytes,omitempty"`
}

// RouteSample is what a trace found as a whole. A hop counts as forwarding if anything beyond it answered. TTLs are 0 where there is no such hop.
type RouteSample struct {
	Reached       bool   `json:"reached"`                   // the target answered
	FirstSilent   int    `json:"first_silent,omitempty"`    // the first hop that does not answer, though it forwards
	LastForwards  int    `json:"last_forwards,omitempty"`   // the last hop that surely forwards
	NotForwarding int    `json:"not_forwarding,omitempty"`  // the first hop that does not forward, or of which nothing shows that it does
	Certain       bool   `json:"certain,omitempty"`         // that hop said so itself
	DSCPChanged   int    `json:"dscp_changed_at,omitempty"` // the first hop at which packets came with another DSCP than they left with
	Answers       string `json:"answers"`                   // how they were heard: "raw sockets", "error queue" or "connections"
	SentPackets   int    `json:"sent_packets"`              // all probes, with those that no hop shows
	SentBytes     int    `json:"sent_bytes"`                // of them, from the IP header on
}

// Least is the shortest round trip to a hop, in seconds, and whether it answered any probe.
func (h Hop) Least() (seconds float64, answered bool) {
	for _, v := range h.RTTSeconds {
		if v != nil && (!answered || *v < seconds) {
			seconds, answered = *v, true
		}
	}
	return seconds, answered
}

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

	MTU int `json:"mtu_bytes,omitempty"` // the largest packet that comes to it; 0: not known

	// These are what routers told of the packets that they answered, where they tell it, and where it is not as sent.
	DSCP       *int        `json:"dscp,omitempty"`       // that the packet came with
	ECN        *int        `json:"ecn,omitempty"`        // that the packet came with
	QuotedTTL  *int        `json:"quoted_ttl,omitempty"` // that the packet came with, where that is not 1
	Translated string      `json:"translated,omitempty"` // what shows that addresses or ports were changed: the source that it came with; "to " and its target; "checksum by " and a number
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
	Why           string `json:"why,omitempty"`             // what it said
	DSCPChanged   int    `json:"dscp_changed_at,omitempty"` // the first hop at which packets came with another DSCP than they left with
	Answers       string `json:"answers"`                   // how they were heard: "raw sockets", "error queue" or "connections"
	SentPackets   int    `json:"sent_packets"`              // all probes, with those that no hop shows
	SentBytes     int    `json:"sent_bytes"`                // of them, from the IP header on
	// Remarks are what hops say together.
	Remarks []RouteRemark `json:"remarks,omitempty"`
	// Narrowings are where packets become too large, the nearest first.
	Narrowings []Narrowing `json:"narrowings,omitempty"`
}

// Narrowing is where packets of more than some bytes are not passed on. Hops between TTL and Before answer nothing, so it may be each of them.
type Narrowing struct {
	TTL     int    `json:"ttl"`    // the last hop that larger packets are known to come to; 0: this host
	Before  int    `json:"before"` // the first hop that they do not come to, and that answers smaller ones
	Bytes   int    `json:"mtu_bytes"`
	Address string `json:"address,omitempty"` // of the hop of that TTL
	Refused bool   `json:"refused,omitempty"` // that hop says so; else they vanish in silence
}

// RouteRemark is something that hops of a route say together, by its kind.
type RouteRemark struct {
	Kind      RemarkKind `json:"kind"`
	TTLs      []int      `json:"ttls"`                // the hops that it is about
	Addresses []string   `json:"addresses,omitempty"` // that it is about
	Count     int        `json:"count,omitempty"`     // of hops or packets; 0: not known
}

// RemarkKind is what a RouteRemark is about.
type RemarkKind string

// What hops can say together.
const (
	RemarkSilent         RemarkKind = "silent"          // TTLs do not answer, though they forward
	RemarkLoop           RemarkKind = "loop"            // TTLs are the first round of hops that packets pass again and again, Addresses who they are
	RemarkZeroTTL        RemarkKind = "zero-ttl"        // TTLs forward packets whose TTL ran out, so that the next hop answers for them
	RemarkSameAddress    RemarkKind = "same-address"    // TTLs are neighbours that answer with one address
	RemarkExplicitTunnel RemarkKind = "explicit-tunnel" // packets come to TTLs with MPLS labels that count hops
	RemarkOpaqueTunnel   RemarkKind = "opaque-tunnel"   // an MPLS tunnel ends before TTLs[0], which hides Count hops, 0: not known how many
	RemarkImplicitTunnel RemarkKind = "implicit-tunnel" // TTLs are inside a tunnel which keeps the packet's TTL
	RemarkLongReturn     RemarkKind = "long-return"     // from TTLs[0] on answers come back over more hops, there Count, than packets go
	RemarkTranslated     RemarkKind = "translated"      // TTLs are the first that packets reach with another address or port, each behind another translator; Addresses what they have there, as Hop.Translated
	RemarkFewAnswers     RemarkKind = "few-answers"     // TTLs answer some packets only, though nothing of what goes beyond is lost
	RemarkLoss           RemarkKind = "loss"            // Count packets to the target, TTLs[1], were lost, surely beyond TTLs[0]; 0: not known where
	RemarkSpread         RemarkKind = "spread"          // at TTLs packets of one flow met several addresses
	RemarkTargetAddress  RemarkKind = "target-address"  // TTLs answer with the target's address, though the TTL ran out there
)

// nextHop is the role of an interface that is another router's (RFC 5837, section 4.2).
const nextHop = "next hop"

// ToldAddresses are those of interfaces that a router told are its own. Nothing proves that they are.
func (h Hop) ToldAddresses() (all []string) {
	for _, i := range h.Interfaces {
		if i.Address != "" && i.Role != nextHop {
			all = append(all, i.Address)
		}
	}
	return all
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

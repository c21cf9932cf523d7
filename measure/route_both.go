package measure

// ReturnRoute is the way back from the target, as the far end found it.
type ReturnRoute struct {
	Local string `json:"local"` // this host's own address
	Seen  string `json:"seen"`  // the same, as the far end saw it, to which it traced; another one behind a translator of addresses (NAT)

	Hops  []Hop       `json:"hops"` // from the far end on
	Route RouteSample `json:"route"`
	// Comparison holds it beside the way there, which is Samples.Hops.
	Comparison RouteComparison `json:"comparison"`
}

// RouteComparison says what the ways there and back have in common, as far as addresses tell.
type RouteComparison struct {
	Verdict string `json:"verdict"` // RoutesSame, RoutesDiffer or RoutesUnknown
	Says    string `json:"says"`    // the same in a sentence, with the reason

	Links   []LinkPair   `json:"links"`   // in the order of the way there; each link of either way is in one of them
	Routers []RouterPair `json:"routers"` // that both ways have, in the order of the way there

	SharedLinks  int `json:"shared_links"`
	OtherLinks   int `json:"other_links"`   // of either way, that are surely not on the other one
	UnknownLinks int `json:"unknown_links"` // of either way, of which nothing tells

	ReturnHopsByTTL int `json:"return_hops_by_ttl,omitempty"` // that answers of the target passed, by what was left of their TTL; 0: not known
}

// What the comparison of two routes finds.
const (
	RoutesSame    = "same"    // all links are shared
	RoutesDiffer  = "differ"  // by a link that is surely on one way alone, or by their length
	RoutesUnknown = "unknown" // nothing tells that they differ, and not all links are known to be shared
)

// LinkPair is a link of the way there and one of the way back that stand at the same place, or one of them alone.
type LinkPair struct {
	Forward int    `json:"forward,omitempty"` // TTL of the hop of the way there that packets come to by the link; 0: there is none
	Return  int    `json:"return,omitempty"`  // TTL of the hop of the way back that packets come to by it; 0: there is none
	Mark    string `json:"mark"`              // LinkShared, LinkOther or LinkUnknown
}

// What is known of a LinkPair.
const (
	LinkShared  = "shared"
	LinkOther   = "other"
	LinkUnknown = "unknown"
)

// RouterPair is a router that both ways pass.
type RouterPair struct {
	Forward int    `json:"forward"`
	Return  int    `json:"return"`
	By      string `json:"by"` // what tells: "address", "link", "interface" or "name"
}

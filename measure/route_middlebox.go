package measure

// Middleboxes are what a trace found that was done to packets on the way.
type Middleboxes struct {
	Sent    []PacketField    `json:"sent"` // what the packets were, as far as that tells
	Points  []MiddleboxPoint `json:"points"`
	Changes []PacketChange   `json:"changes"`
	Proxy   *Proxy           `json:"proxy,omitempty"` // who answers in the target's name
	// FarError says why the far end does not tell what arrived; "": it tells.
	FarError string `json:"far_error,omitempty"`
}

// PacketField is a field of a packet, or an option of it.
type PacketField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MiddleboxPoint is a place at which packets were seen.
type MiddleboxPoint struct {
	TTL   int    `json:"ttl"` // of the hop; that of the target where the far end tells
	Far   bool   `json:"far,omitempty"`
	Shown string `json:"shown"` // how much of a packet: "IP header", "8 bytes of TCP", "TCP header", "all"
}

// PacketChange is a field that is not as it was sent, or not as it was seen before.
type PacketChange struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
	After int    `json:"after"` // the last hop at which it was seen as before; 0: this host, or it is not known
	By    int    `json:"by"`    // the first hop at which it was seen changed
	Far   bool   `json:"far,omitempty"`
}

// Proxy is something that opens connections in the name of a target that is farther away.
type Proxy struct {
	TTL       int      `json:"ttl"`       // where it answers
	Distance  int      `json:"distance"`  // of the target, by ICMP echo
	Addresses []string `json:"addresses"` // of who is at that place by ICMP echo; none: nobody answers there
	// Possible says that it may as well be the target, to which TCP has a shorter way than echoes.
	Possible bool `json:"possible,omitempty"`
}

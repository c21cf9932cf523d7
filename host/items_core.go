package host

// otherKeys are settings that Items look at beside their own.
var otherKeys = []string{}

var coreItems = []Item{
	{ID: "rmem-max", Area: Core, Key: "net.core.rmem_max", bad: Warning, wants: least(twiceProduct),
		Means:   "The largest receive buffer that a program may ask for by itself (SO_RCVBUF): tools for transfers do.",
		Formula: "2 × rate × round trip", Source: linuxReceiveShare},
	{ID: "wmem-max", Area: Core, Key: "net.core.wmem_max", bad: Warning, wants: least(twiceProduct),
		Means:   "The largest send buffer that a program may ask for by itself (SO_SNDBUF).",
		Formula: "2 × rate × round trip", Source: "RFC 7323 section 1.1"},
}

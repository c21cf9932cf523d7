package measure

// PortCheck is what the ends of a path saw of connections to a TCP port, and what that means.
type PortCheck struct {
	Finding  string   `json:"finding"`           // what it means, in a word: see package connect
	Says     string   `json:"says"`              // the same in a sentence
	Evidence []string `json:"evidence"`          // what shows it, a line each
	Unknown  string   `json:"unknown,omitempty"` // what could not be known, and what would tell; "": nothing that matters
	Near     PortNear `json:"near"`
	Far      *PortFar `json:"far,omitempty"` // nil: nobody watched there
}

// PortNear is what the end saw that tried to connect.
type PortNear struct {
	// Watched says that all packets at this host's interfaces were seen, so that what is not in Packets was not there. An interface shows what
	// comes in before the host's firewall, and what leaves behind it.
	Watched   bool          `json:"watched"`
	Target    string        `json:"target"`  // address and port that were tried
	Address   string        `json:"address"` // of this host, towards the target
	Attempts  []PortAttempt `json:"attempts"`
	Packets   []PortPacket  `json:"packets,omitempty"`
	Itself    bool          `json:"itself,omitempty"`     // the target is an address of this host
	EchoHops  int           `json:"echo_hops,omitempty"`  // that answers of the target to ICMP echo pass; 0: not known
	SilentHop string        `json:"silent_hop,omitempty"` // the next hop, if it does not tell its link address
}

// Outcomes of a PortAttempt.
const (
	PortOpen        = "open"
	PortRefused     = "refused"     // by RST
	PortUnreachable = "unreachable" // by an ICMP error, or by this host's kernel
	PortSilent      = "silent"      // nothing came within the timeout
	PortForbidden   = "forbidden"   // this host's kernel did not let the program connect
)

// PortAttempt is one connection that was tried.
type PortAttempt struct {
	Local        string   `json:"local"`         // this end, address and port
	StartSeconds float64  `json:"start_seconds"` // since the start of the measurement
	Outcome      string   `json:"outcome"`
	Seconds      float64  `json:"seconds"`             // from its start to the outcome
	RTTSeconds   *float64 `json:"rtt_seconds"`         // from SYN to SYN-ACK by the kernel, or to RST by this process; nil: none came to the first SYN
	Reason       string   `json:"reason,omitempty"`    // of what is unreachable or forbidden
	From         string   `json:"from,omitempty"`      // who sent the ICMP error; "": not known
	Then         string   `json:"then,omitempty"`      // of what was open: "closed" or "reset" at once; "": neither, or nobody waited for it
	Banner       string   `json:"banner,omitempty"`    // what the server said unasked, in printable characters
	Held         bool     `json:"held_open,omitempty"` // it was kept open for a moment, to see Then and Banner
}

// PortPacket is what an interface showed: a first packet of a connection, or an answer to it.
type PortPacket struct {
	Seconds   float64 `json:"seconds"`   // since the start of the measurement, or of watching
	Interface string  `json:"interface"` // such as eth0; "lo": it never left the host
	Out       bool    `json:"out"`       // it was sent
	Kind      string  `json:"kind"`      // SYN, SYN-ACK, RST or the text of an ICMP error
	Near      string  `json:"near"`      // the near end of the connection, as this host sees it: address and port
	From      string  `json:"from"`      // address of who sent it
	TTL       int     `json:"ttl"`
	Hops      int     `json:"hops"` // that it passed, by the initial TTL next above its own
}

// Kinds of a PortPacket beside ICMP errors.
const (
	PacketSYN    = "SYN"
	PacketSYNACK = "SYN-ACK"
	PacketRST    = "RST"
)

// PortFar is what the far host saw and is.
type PortFar struct {
	Watched   bool           `json:"watched"`           // as in PortNear
	Address   string         `json:"address"`           // that is connected to, as the host has it
	Foreign   bool           `json:"foreign,omitempty"` // no interface of the host has the address
	Packets   []PortPacket   `json:"packets,omitempty"`
	Listeners []PortListener `json:"listeners,omitempty"` // on the port
	HalfOpen  int            `json:"half_open,omitempty"` // connections from the near end which the kernel answered and that never became open
	Itself    string         `json:"itself,omitempty"`    // outcome of a connection from the host to itself; "": it tried none, since nobody listens
	// Counts are what the host's kernel counted meanwhile, of all programs, under its own names: TcpExt.ListenOverflows and the like.
	Counts map[string]uint64 `json:"counts,omitempty"`
}

// PortListener is a socket that listens on the port.
type PortListener struct {
	Address string `json:"address"`           // and port
	Program string `json:"program,omitempty"` // "": that may not be seen
	Covers  bool   `json:"covers"`            // it takes connections to the address that is connected to
	Waiting int    `json:"waiting"`           // connections that its program had not accepted, the most that were seen
	Most    int    `json:"most"`              // that may wait, as its program asked listen(2) for; the kernel admits one more
}

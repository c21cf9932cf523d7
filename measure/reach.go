package measure

// Reach is whether two hosts reach fresh ports of each other: ports that a program opened a moment ago, for this alone, so that no rule of a firewall
// names them.
type Reach struct {
	Local string     `json:"local"` // this end of the connection to the responder, address and port
	Seen  string     `json:"seen"`  // the same end, as the responder saw it
	Ways  []ReachWay `json:"ways"`
}

// Whose port a ReachWay leads to.
const (
	ReachHere  = "here"  // of this host
	ReachThere = "there" // of the responder's
)

// ReachWay is what became of connections or datagrams to one fresh port.
type ReachWay struct {
	To       string    `json:"to"`       // ReachHere or ReachThere
	Protocol string    `json:"protocol"` // tcp or udp
	Port     int       `json:"port"`
	Finding  string    `json:"finding"` // what it means, in a word: see package reach
	Says     string    `json:"says"`    // the same in a sentence
	Sent     ReachSent `json:"sent"`
	Came     ReachCame `json:"came"`
}

// ReachSent is what the end saw that connected or sent datagrams.
type ReachSent struct {
	Outcome  string `json:"outcome"`          // as of a PortAttempt; open of datagrams: an answer came; "": nothing was tried
	Answered bool   `json:"answered"`         // by who knows the cookie of this test
	Reason   string `json:"reason,omitempty"` // of what is unreachable or forbidden
	By       string `json:"by,omitempty"`     // who sent the ICMP error; "": not known
}

// ReachCame is what the end saw whose port it is.
type ReachCame struct {
	Right int    `json:"right"`          // connections, or datagrams, with the cookie of this test
	Wrong int    `json:"wrong"`          // without it
	From  string `json:"from,omitempty"` // address and port of the first with it
}

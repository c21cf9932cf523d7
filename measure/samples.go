package measure

// Samples are the singletons behind the metrics. What a probe does not produce stays nil.
type Samples struct {
	// Windows are what came of so many packets in flight, in the order of their number; see WindowSample.
	Windows      []WindowSample `json:"windows,omitempty"`
	Sizes        []SizeSample   `json:"sizes,omitempty"`   // echoes of each size, the smallest first
	Classes      []ClassSample  `json:"classes,omitempty"` // marks that took turns in one run
	Echoes       []Echo         `json:"echoes,omitempty"`
	Intervals    []Interval     `json:"intervals,omitempty"`
	TCPInfo      []TCPSample    `json:"tcp_info,omitempty"`
	Ends         []TCPEnd       `json:"ends,omitempty"`
	Trains       []Train        `json:"trains,omitempty"`
	Capacity     *PathCapacity  `json:"capacity,omitempty"`
	Links        []LinkSample   `json:"links,omitempty"` // of a route, in order
	Hops         []Hop          `json:"hops,omitempty"`
	Route        *RouteSample   `json:"route,omitempty"`        // what Hops say as a whole
	Return       *ReturnRoute   `json:"return,omitempty"`       // the way back
	BackNarrows  *Narrowing     `json:"back_narrows,omitempty"` // where packets that are too large vanish on the way back; its hops count from the far end
	Middleboxes  *Middleboxes   `json:"middleboxes,omitempty"`  // what they do to packets of a trace
	Paths        *PathsSample   `json:"paths,omitempty"`        // all ways of equal cost
	Rounds       *RoundsSample  `json:"rounds,omitempty"`       // of a trace that went on
	Addresses    []AddressInfo  `json:"addresses,omitempty"`    // what is known of those of Hops or Paths, in their order
	Marks        []Mark         `json:"marks,omitempty"`
	Transactions []Transaction  `json:"transactions,omitempty"`
	Members      []Member       `json:"members,omitempty"` // of a multicast group
	Pairs        []MemberPair   `json:"pairs,omitempty"`   // of them, as far as their receivers told
	Flows        []FlowSample   `json:"flows,omitempty"`   // of a script, in its order
	Port         *PortCheck     `json:"port,omitempty"`
	Reach        *Reach         `json:"reach,omitempty"`
	Output       *Output        `json:"output,omitempty"`
	Trials       []Trial        `json:"trials,omitempty"` // of a search for a rate
	// Search is one of the maximum IP-layer capacity, within one test.
	Search      *CapacitySearch `json:"search,omitempty"`
	Sweep       *Sweep          `json:"sweep,omitempty"`
	Beside      []BesideSample  `json:"beside,omitempty"` // the transfer alone first, then beside a flow of each congestion control
	Host        *HostSample     `json:"host,omitempty"`
	Connections []Connection    `json:"connections,omitempty"`
	Processes   []Process       `json:"processes,omitempty"` // that have connections open
	Findings    []Finding       `json:"findings,omitempty"`  // of a diagnosis, or of an audit of a host

	// Receivers are those of a transfer to a multicast group, the target first.
	Receivers []GroupReceiver `json:"receivers,omitempty"`
}

// Trial is a test at one rate, of a search for the highest that passes.
type Trial struct {
	BitsPerSecond         float64 `json:"bits_per_second"` // asked for
	SentBitsPerSecond     float64 `json:"sent_bits_per_second"`
	ReceivedBitsPerSecond float64 `json:"received_bits_per_second"`
	LossRatio             float64 `json:"loss_ratio"`
	Failure               string  `json:"failure,omitempty"` // why it did not pass; "": it did
}

// Output is what an external program printed: kept whole, so that a better parser can read it again.
type Output struct {
	Command   []string `json:"command"`
	Stdout    string   `json:"stdout"`
	Stderr    string   `json:"stderr"`
	ExitCode  int      `json:"exit_code"`           // -1: it was ended by a signal, or by whoever ran it
	Truncated bool     `json:"truncated,omitempty"` // it printed more than is kept
}

// Directions of data, as seen by the caller of a test, and ends of a stream, as seen by the data.
const (
	Forward  = "forward" // from the caller to the target
	Reverse  = "reverse"
	Sender   = "sender"
	Receiver = "receiver"
)

// Train is one packet train: datagrams that left back to back, and how the path spread them.
type Train struct {
	SentPackets       int     `json:"sent_packets"`
	ReceivedPackets   int     `json:"received_packets"`
	DispersionSeconds float64 `json:"dispersion_seconds"` // from the first arrival to the last
	BitsPerSecond     float64 `json:"bits_per_second"`    // of IP, by packets that queued; 0: too few did
}

// Mark is how many datagrams arrived with a differentiated services code point, of a test that asked for one. Another than that which was
// sent is a router's on the way.
type Mark struct {
	Sent      *int   `json:"sent_dscp,omitempty"` // with which they left, where one test sends several, or a reflector may choose; nil: as the test asked
	ECN       int    `json:"ecn,omitempty"`       // on arrival, 0 to 3 (RFC 3168)
	Direction string `json:"direction"`           // as in Interval
	DSCP      int    `json:"dscp"`
	Packets   int64  `json:"packets"`
}

// Echo is one request of a round-trip probe and what became of it.
type Echo struct {
	Seq         int      `json:"seq"`
	Way         string   `json:"way,omitempty"` // forward or reverse, of a packet that went one way and that nobody answered: its sender's clock tells SentSeconds
	SentSeconds float64  `json:"sent_seconds"`  // since the start of the measurement
	RTTSeconds  *float64 `json:"rtt_seconds"`   // nil: lost, or it has a Way
	// ForwardSeconds and ReverseSeconds are what each way took, as the clocks of both ends showed it; nil: lost, or nobody stamped it there.
	ForwardSeconds *float64 `json:"forward_seconds,omitempty"`
	ReverseSeconds *float64 `json:"reverse_seconds,omitempty"`
	LateSeconds    float64  `json:"late_seconds,omitempty"` // by how much it was sent later than planned, where that is told
	TTL            int      `json:"ttl,omitempty"`
	DSCP           *int     `json:"dscp,omitempty"`  // mark of the answer, where the request had one; nil: nobody looked
	From           string   `json:"from,omitempty"`  // who answered, when it was not the target
	Error          string   `json:"error,omitempty"` // what an ICMP error said
	Duplicates     int      `json:"duplicates,omitempty"`
	Size           int      `json:"size_bytes,omitempty"` // of its payload, where they differ
	Class          string   `json:"class,omitempty"`      // of marks that took turns
}

// ClassSample is what came of the packets of one mark, on the way there.
type ClassSample struct {
	Name          string   `json:"name"` // as it was asked for, such as "ef"
	DSCP          int      `json:"dscp"`
	Sent          int      `json:"sent_packets"`
	Lost          int      `json:"lost_packets"`
	MinSeconds    *float64 `json:"min_seconds"` // of one-way delays, by the clocks of both ends; nil: all were lost
	MedianSeconds *float64 `json:"median_seconds"`
	P95Seconds    *float64 `json:"p95_seconds"`
}

// SizeSample is what came of the echoes of one size.
type SizeSample struct {
	Bytes            int      `json:"size_bytes"` // of payload
	Sent             int      `json:"sent_packets"`
	Lost             int      `json:"lost_packets"`
	RTTMinSeconds    *float64 `json:"rtt_min_seconds"` // nil: all were lost
	RTTMedianSeconds *float64 `json:"rtt_median_seconds"`
}

// WindowSample is what a path did while a number of packets was kept in flight. Rates are of answers, at the IP layer.
type WindowSample struct {
	InFlight         int         `json:"in_flight"`
	Sent             int         `json:"sent"`
	Lost             int         `json:"lost"`
	BitsPerSecond    float64     `json:"bits_per_second"` // of the second half of the time
	RTTMinSeconds    float64     `json:"rtt_min_seconds"`
	RTTMedianSeconds float64     `json:"rtt_median_seconds"`
	RTTP95Seconds    float64     `json:"rtt_p95_seconds"`
	MissingRatio     float64     `json:"missing_ratio"` // of the packets in flight, on average: this host sent late what answers let out
	Burst            WindowBurst `json:"burst"`
}

// WindowBurst is what became of the packets that open a window: as many as are to be in flight, sent without waiting for an answer.
type WindowBurst struct {
	Passed        int     `json:"passed"` // before the first that was lost
	Lost          int     `json:"lost"`
	LeftSeconds   float64 `json:"left_seconds"`    // from the first to leave to the last
	BitsPerSecond float64 `json:"bits_per_second"` // at which its answers came; 0: fewer than two came
}

// Transaction is one of a program that asks and waits for the answer. Times count from its beginning: with a connection of its own that
// is when the connection was begun, else the first write.
type Transaction struct {
	Seq              int      `json:"seq"`
	StartSeconds     float64  `json:"start_seconds"`                 // since the start of the measurement
	ConnectSeconds   *float64 `json:"connect_seconds,omitempty"`     // until its connection was open; nil: it has none of its own
	WrittenSeconds   *float64 `json:"written_seconds,omitempty"`     // until the last piece of its first request was written
	FirstByteSeconds *float64 `json:"first_byte_seconds,omitempty"`  // until an answer began to come
	Seconds          *float64 `json:"seconds"`                       // until the last answer had come; nil: it failed
	Retransmits      int64    `json:"retransmits_packets,omitempty"` // sent again by this end while it went on
	Error            string   `json:"error,omitempty"`
}

// Interval is what one stream, or all of them together (Stream 0), moved in one reporting interval.
type Interval struct {
	Stream        int     `json:"stream"`
	Direction     string  `json:"direction"` // "forward" from the caller to the target, "reverse" the other way
	End           string  `json:"end"`       // "sender" or "receiver": who counted
	StartSeconds  float64 `json:"start_seconds"`
	EndSeconds    float64 `json:"end_seconds"`
	Bytes         int64   `json:"bytes"`
	BitsPerSecond float64 `json:"bits_per_second"`
	Retransmits   *int64  `json:"retransmits_packets,omitempty"`
}

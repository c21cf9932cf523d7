package measure

// RoundsSample is what rounds of a trace came to, of which each sends one packet to each hop, of each flow.
type RoundsSample struct {
	Rounds int         `json:"rounds"`
	Hops   []HopRounds `json:"hops"`           // in order of TTL, up to the target or the last that answered; of all flows together
	Loss   PathLoss    `json:"loss"`           // of all flows together
	Ways   []WayRounds `json:"ways,omitempty"` // of each flow, where there are several: a trace of all equal-cost paths
}

// WayRounds is the way of a flow, and what it loses.
type WayRounds struct {
	Routers []string `json:"routers"` // who answered last at each hop; "": nobody
	Loss    PathLoss `json:"loss"`
}

// RouterRounds is what came of the packets of the flows that pass one router at a hop, or none that answers. Where packets of one flow are answered by several (balancing
// by packet), those are one entry: which of them lost a packet nobody can tell.
type RouterRounds struct {
	HopRounds
	Flows int `json:"flows"`
	// Share is of the flows that were seen at this hop when the paths were searched; 0: not known.
	Share float64 `json:"share_ratio,omitempty"`
	Told  Hop     `json:"told"` // with the latest round trips
}

// HopRounds is what came of the packets to one hop. Times are nil where there are none: nothing answered, or only once.
type HopRounds struct {
	TTL       int     `json:"ttl"`
	Sent      int     `json:"sent_packets"`
	Lost      int     `json:"lost_packets"`
	Answered  int     `json:"received_packets"` // less than Sent - Lost while answers may still come
	LossRatio float64 `json:"loss_ratio"`       // of those of which it is known

	Last   *float64 `json:"last_seconds"`
	Best   *float64 `json:"best_seconds"`
	Mean   *float64 `json:"mean_seconds"`
	Median *float64 `json:"median_seconds"`
	Worst  *float64 `json:"worst_seconds"`
	Stddev *float64 `json:"stddev_seconds"`

	// Jitter is how far a round trip is from the one before it, without its sign: the last, the mean and the largest, and
	// smoothed (RFC 3550, 6.4.1).
	JitterLast     *float64 `json:"jitter_last_seconds"`
	JitterMean     *float64 `json:"jitter_mean_seconds"`
	JitterWorst    *float64 `json:"jitter_worst_seconds"`
	JitterSmoothed *float64 `json:"jitter_seconds"`

	From []HopAnswers `json:"from"` // who answered, the latest first

	Routers []RouterRounds `json:"routers,omitempty"` // where flows pass several at this hop
}

// HopAnswers is how often an address answered at a hop.
type HopAnswers struct {
	Address string `json:"address"`
	Packets int    `json:"packets"`
}

// PathLoss tells what the path loses from hops that merely answer seldom: what is lost counts only as far as it goes on to the end. TTLs are
// 0 where there is no such hop.
type PathLoss struct {
	End        int     `json:"end"`     // the target, or the farthest hop that answers
	Reached    bool    `json:"reached"` // it is the target
	Lossy      bool    `json:"lossy"`   // it lost more than is nothing
	LossRatio  float64 `json:"loss_ratio"`
	Low        float64 `json:"loss_low_ratio"` // the 95 % interval of it
	High       float64 `json:"loss_high_ratio"`
	After      int     `json:"after,omitempty"`      // the last hop that loses significantly less than the end
	Hop        int     `json:"hop,omitempty"`        // to blame: the first behind After, if it and every hop behind it loses significantly
	By         int     `json:"by,omitempty"`         // the first hop of which that holds, whether to blame or not
	Confidence float64 `json:"confidence,omitempty"` // that the loss begins between After and By
	Limiting   []int   `json:"limiting,omitempty"`   // hops that answer fewer packets than pass them
	Verdict    string  `json:"verdict"`              // all of this as a sentence
}

package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
)

// Here is what the host that measures is called where it has no other name.
const Here = "here"

// Stretch is what was measured over a part of a path: from its beginning to a point on it, or from one point to the next.
type Stretch struct {
	From, To string
	Results  []*measure.Result
	Failed   string // why it could not be measured, or not wholly; "": it was
}

// Parts says which part of a path is to blame for what the whole reaches, on one way. A part is held against the whole's own round trip:
// few losses, or a short queue, that do no harm over a short part hold back what must keep many packets on their way.
//
// Source: dividing a path by test points at the borders of domains (PERT, Performance Guides, 2005); RFC 8337 for why a part is to be
// judged by the round trip of the whole.
type Parts struct {
	Way                   measure.Way `json:"way"`      // that the data goes; parts are named from the host that asks
	Measured              Division    `json:"measured"` // what the numbers of a part come from
	RTTSeconds            float64     `json:"rtt_seconds"`
	AchievedBitsPerSecond float64     `json:"achieved_bits_per_second"` // by the whole, once its transfer runs
	// From this on, what the whole could reach through a part clears it; 0: nothing is known of the whole.
	NeededBitsPerSecond float64           `json:"needed_bits_per_second"`
	Verdict             Blame             `json:"verdict"`
	Blamed              []string          `json:"blamed"`              // the parts that the verdict is about
	Narrowest           string            `json:"narrowest,omitempty"` // the part that has the narrowest link; "": that is not told
	Says                string            `json:"says"`                // the verdict in a sentence
	Segments            []Segment         `json:"segments"`
	Points              []Point           `json:"points"`
	Results             []*measure.Result `json:"results"` // over parts; those over the whole are the diagnosis's
}

// Division is how the parts of a path were measured.
type Division string

const (
	ByPrefixes Division = "prefixes" // from one end to each point: what a part does is what is new at its far end
	BySegments Division = "segments" // each from its one end to its other
)

// Blame is what can be said of the parts of a path.
type Blame string

const (
	BlameOne     Blame = "one"     // a part holds the whole back
	BlameSeveral Blame = "several" // several parts do, each by itself
	BlameLeft    Blame = "left"    // one of the parts that are left does, and which is not told
	BlameNone    Blame = "none"    // no part does
	BlameUnknown Blame = "unknown"
)

// Segment is a part of the path. What is nil was not measured, or is not told.
type Segment struct {
	From             string    `json:"from"`
	To               string    `json:"to"`
	RTTSeconds       *float64  `json:"rtt_seconds"`        // the shortest
	RTTGrowthSeconds *float64  `json:"rtt_growth_seconds"` // under load; of prefixes, from the beginning of the path on
	SentPackets      float64   `json:"sent_packets"`       // evenly; of prefixes, from the beginning of the path on, as the rate
	LostPackets      float64   `json:"lost_packets"`
	LossRatio        *Estimate `json:"loss_ratio"` // of prefixes, what this part adds
	Throughput       *float64  `json:"throughput_bits_per_second"`
	Alone            *float64  `json:"alone_bits_per_second"`       // what one connection could reach over this part's own round trip
	CouldReach       *Estimate `json:"could_reach_bits_per_second"` // by the whole, through this part
	Limit            Limit     `json:"limit,omitempty"`             // what that comes from
	Outcome          Outcome   `json:"outcome"`
	Means            string    `json:"means"`
}

// Name is how a part is called.
func (s *Segment) Name() string { return s.From + " - " + s.To }

// Estimate is a value and its 95 % interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Limit is what of a part limits the whole.
type Limit string

const (
	LimitLoss       Limit = "loss"       // of packets that were sent evenly
	LimitRate       Limit = "rate"       // that a transfer reached, or the link carries
	LimitQueue      Limit = "queue"      // too short for a window of the whole
	LimitCollisions Limit = "collisions" // losses of a transfer that even packets one way do not meet
	LimitStuck      Limit = "stuck"      // a connection opened and nothing came through
)

// Point is a host along the path that was measured to.
type Point struct {
	Name    string     `json:"name"`
	Address string     `json:"address"`
	State   PointState `json:"state"`
	Means   string     `json:"means"`
}

// PointState is whether a point divides the path.
type PointState string

const (
	PointUsed     PointState = "used"
	PointAway     PointState = "unmeasured" // nothing, or too little, could be measured to it
	PointOffRoute PointState = "off-route"
	PointWorse    PointState = "worse" // it, or its own link, does worse than the path that it stands on, and so cannot judge it
)

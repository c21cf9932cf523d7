package measure

// Sweep is a metric at several values of one or two parameters, each measured several times, in random order.
type Sweep struct {
	Metric     Metric           `json:"metric"`
	Unit       string           `json:"unit"`       // of the points' figures, as Metric.Unit
	Parameters []SweepParameter `json:"parameters"` // one or two
	Points     []SweepPoint     `json:"points"`     // in the order asked for; the second parameter changes fastest
	Order      []int            `json:"order"`      // of the runs, as they were made: the index of the point of each
	Seed       int64            `json:"seed"`       // of the order
	Within     float64          `json:"within_ratio"`
	Ended      string           `json:"ended"` // one of the words below
}

// Why a Sweep ended.
const (
	SweepNarrow = "narrow" // every point is known as narrowly as was asked for, or cannot be measured
	SweepBudget = "budget" // the time that it was given was spent
	SweepFailed = "failed" // nothing could be measured
	SweepBroken = "broken" // whoever ran it ended it
)

// SweepParameter is what was changed.
type SweepParameter struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"` // of its values, as metrics' names end in one; "": they are words
}

// SweepPoint is what came of one value of each parameter.
type SweepPoint struct {
	Values []any   `json:"values"` // one for each parameter: a number in its unit, or a word
	N      int     `json:"n"`      // runs that measured; 0: none did, and figures mean nothing
	Mean   float64 `json:"mean"`
	Low    float64 `json:"low"` // where the true mean lies with 95 % confidence, by Student's distribution; not below 0; of one run the run
	High   float64 `json:"high"`
	Narrow bool    `json:"narrow"` // half of what lies between Low and High is at most Within of Mean

	// Metrics are the medians of what else the runs brought.
	Metrics map[Metric]float64 `json:"metrics,omitempty"`
	Window  *SweepWindow       `json:"window,omitempty"`
	Failure string             `json:"failure,omitempty"` // of the last run that failed
}

// SweepWindow is what a window allows a stream. It is of the sender's kernel, and so nil where that does not tell. A receiver's kernel
// offers less than its buffer has, since a packet takes more of it than its payload.
type SweepWindow struct {
	UsableBytes float64 `json:"usable_bytes"` // what the receiver offered, as the kernel was asked; the median, once slow start was over
	RTTSeconds  float64 `json:"rtt_seconds"`  // as TCP smooths it, queues and all; the median, once slow start was over
	// AllowsBitsPerSecond is what as many bytes in each round trip come to, over all streams.
	AllowsBitsPerSecond float64 `json:"allows_bits_per_second"`
}

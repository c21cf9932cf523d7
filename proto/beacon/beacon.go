// Package beacon measures multicast: the members of a group each send probes to it and listen to those of all others, and tell the group what they
// received, so that each of them knows the loss, delay, delay variation, duplication and reordering between any two.
//
//	member a                       group                       member b
//	probe 0, 1, 2, … n-1            ->                     judges the probes of a
//	judges the probes of b          <-                     probe 0, 1, 2, … n-1
//	receiver report, each second   <->                     receiver report, each second
//
// Nothing is asked and nothing answered: a member sends what it was told to send, whatever arrives. What arrives is not authenticated: who can send
// to the group can make its figures wrong, but can neither make a member send more nor keep more than its limits say.
//
// # Which probes are judged
//
// A receiver judges the probes of a sender that were due to arrive from when it began to listen until a Drain before now. A probe is due to arrive
// when it was sent, by the sender's clock, plus the least difference between both clocks and the delay that the receiver has seen: the clocks need
// not agree. So probes that were sent before it listened are not lost, and those before the first one heard are lost where it listened. The last
// probe is the last one that any member has told of. Of a sender that a receiver has never heard, it learns by the reports of others, and judges
// its probes lost from the first that it was told of, or from number 0 where it listened when the sender began.
//
// Wire formats (wire.go, block.go), the reduction of arrivals (tally.go), what a member knows (roster.go) and the matrix (matrix.go) touch no socket
// and no clock.
package beacon

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

const (
	// DefaultPort is where members listen. It is nobody's (IANA).
	DefaultPort = 5863
	// Drain is how long a probe may come later than it was due before it counts as lost. One that comes later still counts as received.
	Drain = time.Second
)

// What a member sends and keeps at the most, whatever it is told.
const (
	MostProbes  = 10_000
	MostMembers = 256
	// mostArrivals are all that a member keeps, in 24 bytes each: 100 members at 10 probes a second for a quarter of an hour.
	mostArrivals = 1 << 20
	// LeastBytes of payload have room for a probe's header and the longest name.
	LeastBytes = probeBytes + mostName
	// MostBytes of payload pass any path of IPv6 whole (RFC 8200 section 5), and tunnels over it.
	MostBytes = 1200
	mostName  = 32
)

// ID names a member of a group, by chance: two of a million members have the same one with a probability of 3e-8.
type ID uint64

// String is the ID in 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// MarshalText writes String: JavaScript's numbers do not hold 64 bits.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (id *ID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("read ID of a member: %w", err)
	}
	*id = ID(n)
	return nil
}

// Figures are what a receiver found of a sender's probes.
type Figures struct {
	// The probes From to To, without the latter, are those that are judged; Received of them came, the others are lost.
	From, To   uint32
	Received   uint32
	Duplicates uint32 // arrivals beyond the first of each (RFC 5560)
	Reordered  uint32 // RFC 4737 section 3.3
	MaxExtent  uint32 // of reordered probes, RFC 4737 section 4.2
	LossRun    uint32 // the longest run of losses (RFC 3357)
	Remarked   uint32 // came with another DSCP than they were sent with

	// Hops are the least and the most routers that probes passed; -1: not known.
	Hops, HopsMost int

	// Delays by the clocks of both ends, and how they vary; the zero value where fewer than one, or two, came.
	Delay     Delay
	Variation Variation
	// ClockError is the most by which the clocks of both ends together may make delays wrong; ClockKnown: both tell what they are worth. Variation is
	// right whatever they are worth.
	ClockError time.Duration
	ClockKnown bool
}

// Delay is the distribution of one-way delays (RFC 7679). They may be below 0, for the clocks.
type Delay struct{ Min, Median, P95 time.Duration }

// Variation is how delays vary: 95th percentiles of PDV and of the absolute IPDV (RFC 5481).
type Variation struct{ PDV, IPDV time.Duration }

// Judged is how many probes the figures are of.
func (f *Figures) Judged() uint32 { return f.To - f.From }

// Lost counts the probes that did not come.
func (f *Figures) Lost() uint32 { return f.Judged() - f.Received }

// Loss is the share of the probes that did not come (RFC 7680); NaN where none was judged.
func (f *Figures) Loss() float64 {
	if f.Judged() == 0 {
		return math.NaN()
	}
	return float64(f.Lost()) / float64(f.Judged())
}

// Package traffic is the language in which flows of datagrams are described, and the plan that follows from it: which flow's packet leaves when,
// how large it is, and how it is marked. Patterns are those of RUDE and CRUDE, and of what networks carry beside them.
//
// It is pure: it opens nothing, reads no clock and sends nothing. What it draws it draws from the script's seed, each flow by itself, so that one
// script always has the same plan, and a flow's packets do not change with the flows beside it.
package traffic

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// Limits of a script.
const (
	// LeastBytes of a packet, of UDP payload, hold what its receiver has to know of it.
	LeastBytes = 32
	// MostBytes of UDP payload fit into a packet of IPv4 (RFC 791: 65,535 bytes with headers of 28).
	MostBytes = 65507
	// MostFlows are more than anybody draws beside each other.
	MostFlows = 64
	// MostPackets of a plan: a receiver remembers when each arrived, in some 12 bytes.
	MostPackets = 2_000_000
	// MostTime is how long a script may last: a receiver that forgets nothing forgets no flow within a day.
	MostTime = 24 * time.Hour
	// MostText bounds the text of a script, in bytes: 64 flows with some changes each.
	MostText = 64 << 10
	// mostChanges of one flow.
	mostChanges = 1000
)

// Script is what a text describes.
type Script struct {
	Seed  uint64 // of all that is drawn; 0 is a seed like any other
	To    string // HOST or HOST:PORT; "": the script does not say
	Flows []Flow // in the order of the text
}

// Flow is a row of packets between two ports.
type Flow struct {
	Name       string
	Reverse    bool          // the far end sends it
	Start, End time.Duration // since the script began: packets are due from Start on, and before End
	Phases     []Phase       // the first begins at Start; at least one
	Recorded   []Recorded    // of the pattern Replay
}

// Phase is how a flow is from some moment on: each change of a flow begins one, and with it the pattern begins anew.
type Phase struct {
	At    time.Duration // since the script began
	Shape Shape
}

// Pattern is how packets follow each other.
type Pattern string

// The patterns.
const (
	Constant Pattern = "constant" // evenly spaced
	Poisson  Pattern = "poisson"  // each for itself: the time between two is exponential
	OnOff    Pattern = "onoff"    // evenly spaced while it is on, none while it is off
	Frames   Pattern = "frames"   // a frame every so often, in packets that leave together
	Replay   Pattern = "replay"   // as in a capture
)

// Shape is what a flow sends.
type Shape struct {
	Pattern Pattern
	Rate    Rate          // of all but Frames and Replay; of OnOff, while it is on
	Size    Size          // bytes of UDP payload of a packet; of Frames, of the largest
	Frame   Size          // of Frames: bytes of a frame
	Every   time.Duration // of Frames: from one to the next
	On, Off Spell         // of OnOff
	DSCP    int
}

// Rate is how much a flow sends: packets a second, or bit/s of UDP payload. One of the two is set.
type Rate struct{ Packets, Bits float64 }

// Spell is how long something lasts: Mean, or a time drawn from the exponential distribution with that mean.
type Spell struct {
	Mean  time.Duration
	Drawn bool
}

// Recorded is a packet of a capture: when it came after the first of them, and bytes of UDP payload that make an IP packet of its size.
type Recorded struct {
	After time.Duration
	Bytes int
}

// Packet is one of a plan.
type Packet struct {
	Flow  int           // its place among the script's flows
	Due   time.Duration // since the script began
	Bytes int           // of UDP payload
	DSCP  int
}

// Turn has each flow go the other way. Errors are of package input: a capture is on this host, and the far end cannot replay it.
func (s *Script) Turn() error {
	for i := range s.Flows {
		f := &s.Flows[i]
		f.Reverse = !f.Reverse
		if err := f.checkWay(); err != nil {
			return input.Errorf("flow %s: %v", f.Name, err)
		}
	}
	return nil
}

// Goes reports whether a script has flows of a way.
func (s *Script) Goes(reverse bool) bool {
	return slices.ContainsFunc(s.Flows, func(f Flow) bool { return f.Reverse == reverse })
}

// MostIntervals is into how many a script is divided, to tell what became of its packets over time: a drawing shows no more.
const MostIntervals = 50

// Interval is the width of the intervals that a script is divided into: the smallest of 100 ms, 200 ms, 500 ms, 1 s and so on of which MostIntervals
// or fewer cover it.
func (s *Script) Interval() time.Duration {
	last := s.Duration()
	for decade := 100 * time.Millisecond; ; decade *= 10 {
		for _, width := range []time.Duration{decade, 2 * decade, 5 * decade} {
			if last <= MostIntervals*width {
				return width
			}
		}
	}
}

// Intervals is how many intervals of that width cover the script.
func (s *Script) Intervals() int { return int((s.Duration() + s.Interval() - 1) / s.Interval()) }

// Duration is how long the script lasts: until the last flow ends.
func (s *Script) Duration() (last time.Duration) {
	for i := range s.Flows {
		last = max(last, s.Flows[i].End)
	}
	return last
}

package diagnose

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// view is what the Results say about one direction of a path. Times are in seconds, rates in bit/s, sizes in bytes; a
// zero is not known unless the comment says otherwise.
type view struct {
	direction        string
	sender, receiver string // host names, for advice
	target           string // the one of them that was asked
	address          string // of the receiver
	respond          bool   // it runs a Pathwise responder

	goodput  float64 // at the receiver, over the whole test; acknowledged at the sender, where the receiver's count did not come
	steady   float64 // acknowledged at the sender, over the test's later part
	duration float64
	stuck    bool // the connection opened, and nothing that the sender sent on it arrived

	baseRTT    float64 // of the empty path: the least that ping or TCP saw
	loadedRTT  float64 // median of TCP's smoothed RTT while the test ran
	mss        float64
	ipHeader   float64
	capacity   float64 // of IP, at the narrowest link
	carries    float64 // of TCP payload: capacity less headers
	doubt      string  // why the capacity is not known; "": nothing was said of it
	exceeded   bool    // for the transfer was faster
	congestion string

	rwndShare, sndbufShare float64 // shares of the test's time; 0 is a value
	appLimitedShare        float64 // share of samples that the kernel marked so; 0 is a value
	roomShare              float64 // share of samples in which the program could have given TCP more; 0 is a value
	windowScaling          *bool   // nil: not known
	window                 float64 // the largest that the receiver offered

	sentSegments, resent float64 // of TCP, over the test; 0 is a value
	paced                *pacedLoss

	from, to *measure.TCPEnd // settings of the sender and the receiver; nil: not known
	sourced  bool            // the data came from a source that the caller chose, or at a rate
	rate     float64         // that the sending program was held to

	echoes  echoes  // of small packets
	sizes   []sized // echoes of packets that nothing may cut
	refuted []claim // what the causes' own formulas ruled out: see holds
}

// pacedLoss is what a probe lost that filled only a small part of the path.
type pacedLoss struct{ sent, lost, rate float64 }

// newView gathers what is known about a direction. It is nil without a TCP transfer that says something.
func newView(results []*measure.Result, direction string) *view {
	v := &view{direction: direction}
	var tcp *measure.Result
	for _, r := range results {
		way := measure.WayOf(r.Kind, r.Parameters)
		ours := way == measure.Way(direction) || way == measure.Both
		switch {
		case r.Kind == "ping":
			v.takePing(r)
		case r.Kind == "capacity" && ours:
			v.takeCapacity(r)
		case r.Kind == "throughput" && ours && r.Parameters["proto"] == "udp":
			if sent := r.Metrics[measure.SentPackets]; sent > 0 {
				v.paced = &pacedLoss{sent, r.Metrics[measure.LostPackets], r.Metrics[measure.SentRate]}
			}
		case r.Kind == "throughput" && ours:
			tcp = r
		}
	}
	if tcp == nil || !v.takeTransfer(tcp) {
		return nil
	}
	return v
}

func (v *view) takeCapacity(r *measure.Result) {
	if c := r.Metrics[measure.Capacity]; c > 0 {
		v.capacity, v.doubt = c, ""
	} else if r.Error != nil && v.capacity == 0 {
		v.doubt = *r.Error
	}
}

// roundTrip is what a round trip took while the test ran, or of the empty path where that is not known.
func (v *view) roundTrip() float64 {
	if v.loadedRTT > 0 {
		return v.loadedRTT
	}
	return v.baseRTT
}

// way is the direction, as a Finding names it.
func (v *view) way() measure.Way { return measure.Way(v.direction) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// lesser is the smaller of two values that are known.
func lesser(a, b float64) float64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func seconds(s float64) time.Duration { return model.Seconds(s) }

// full reports whether the path carries what it can: what it delivers is close to what its narrowest link allows, or,
// where that is not known, a queue stands in it because TCP fills it.
func (v *view) full() bool {
	if v.carries > 0 {
		return v.steady >= fullShare*v.carries
	}
	queue := v.loadedRTT - v.baseRTT
	return v.loadedRTT > queueStands*v.baseRTT && queue > leastQueue &&
		v.rwndShare < binding && v.sndbufShare < sendBinding && v.roomShare < mostlyIdle
}

const (
	// fullShare is the share of what a path can carry above which nothing is wrong: cubic and reno on a queue of half
	// a bandwidth-delay product keep 90 % and more.
	fullShare = 0.8
	// queueStands is the ratio of loaded to empty RTT above which a queue stands in the path, and leastQueue, in seconds,
	// what it must hold: within a room the hosts' own delays vary by more than a fifth.
	queueStands = 1.2
	leastQueue  = 0.001
)

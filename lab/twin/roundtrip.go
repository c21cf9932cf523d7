package twin

import (
	"fmt"
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// roundTrip is the least that was seen, and of what.
type roundTrip struct {
	seconds float64
	bytes   int64 // of the IP packet, each way
	from    string
}

// Bytes of headers: IPv4 and ICMP around an echo's payload (RFC 791, RFC 792), and what a trace's packets and TCP's
// acknowledgements come to, near enough.
const (
	echoHeaders = 28
	smallPacket = 52
)

// leastRoundTrip takes the pings' if there are any, for they are many; else the trace's last hop, else what TCP's
// kernel saw.
func (e *evidence) leastRoundTrip() (roundTrip, bool) {
	best := roundTrip{seconds: math.Inf(1)}
	for _, r := range e.pings {
		if least, ok := r.Get(measure.RTTMin); ok && least < best.seconds {
			best = roundTrip{least, echoBytes(r), cite(r, measure.RTTMin, least)}
		}
	}
	if !math.IsInf(best.seconds, 1) {
		return best, true
	}
	for _, r := range e.traces {
		if hops := r.Samples.Hops; len(hops) > 0 {
			if least, ok := hops[len(hops)-1].Least(); ok && reaches(r) && least < best.seconds {
				best = roundTrip{least, smallPacket, fmt.Sprintf("trace %s, the last hop", r.ID)}
			}
		}
	}
	if !math.IsInf(best.seconds, 1) {
		return best, true
	}
	for _, r := range e.transfers {
		for _, s := range r.Samples.TCPInfo {
			if v, ok := s.Get("min_rtt_seconds"); ok && v > 0 && v < best.seconds {
				best = roundTrip{v, smallPacket, fmt.Sprintf("throughput %s, TCP_INFO's min_rtt", r.ID)}
			}
		}
	}
	return best, !math.IsInf(best.seconds, 1)
}

// echoBytes is how large the IP packets of a ping were.
func echoBytes(r *measure.Result) int64 {
	payload, _ := r.Number("size")
	return int64(payload) + echoHeaders
}

// cite names a figure of a Result.
func cite(r *measure.Result, m measure.Metric, value float64) string {
	return fmt.Sprintf("%s %s, %s %.6g", r.Kind, r.ID, m, value)
}

// reaches reports whether a trace's last hop is its target.
func reaches(r *measure.Result) bool {
	h := r.Samples.Hops
	return len(h) > 0 && slices.Contains(h[len(h)-1].Addresses, r.Target.Address)
}

// rightBehind is how close two echoes come in, in seconds, when the first held up the second: what hosts blur, and
// what the narrowest link takes for an echo. Links keep order, so the twin's will hold up others just so; a delay
// that is counted again for each echo behind it would be there many times.
func (e *evidence) rightBehind(r *measure.Result) float64 {
	const blur = 100e-6
	fastest := 0.0
	for _, known := range slices.Concat(e.trains, e.transfers) {
		fastest = max(fastest, known.Metrics[measure.Capacity], known.Metrics[measure.Throughput])
	}
	if fastest < slowest {
		return blur
	}
	wire := link.Overhead{Link: link.Ethernet}.Frame(echoBytes(r))
	return blur + float64(wire*8)/fastest
}

// extras returns by how much each echo's round trip exceeds the least of its Result, in order of sending, without those
// that came in right behind the one before: their own delay is not known.
func (e *evidence) extras() []float64 {
	keepsOrder := e.reordered() == 0
	var all []float64
	for _, r := range e.pings {
		least, ok := r.Get(measure.RTTMin)
		if !ok {
			continue
		}
		sent, came, behind := 0.0, math.Inf(-1), e.rightBehind(r) // of the echo before
		for _, s := range r.Samples.Echoes {
			if s.RTTSeconds == nil {
				continue
			}
			arrival := s.SentSeconds + *s.RTTSeconds
			held := keepsOrder && s.SentSeconds > sent+behind && arrival < came+behind
			sent, came = s.SentSeconds, max(came, arrival)
			if !held {
				all = append(all, max(0, *s.RTTSeconds-least))
			}
		}
	}
	return all
}

func (e *evidence) reordered() (n int) {
	for _, r := range e.pings {
		n += int(r.Metrics[measure.ReorderedPackets])
	}
	return n
}

// usualExtra is by how much most echoes exceed the least, without load.
func (e *evidence) usualExtra() float64 { return stat.Summarize(e.extras()).P95 }

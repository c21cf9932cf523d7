package twin

import (
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

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
	wire := link.Overhead{Link: link.Ethernet}.Frame(int64(number(r.Parameters, "size")) + echoHeaders)
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

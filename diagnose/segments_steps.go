package diagnose

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

const (
	// evenLongest is how long packets are sent evenly over one part, in seconds, all together.
	evenLongest = 20.0
	// evenOften is how often they are sent at the most, whatever comes of it: with those of the diagnosis of the whole.
	evenOften = 6
	// evenMore is how many packets more are sent than suffice if none is lost, so that what starts and ends a test is covered.
	evenMore = 1.1
)

// StretchSteps measure a part of the path of a diagnosis, the same way as its finding: round trips, the route, the narrowest link, and a
// transfer that lasts no longer than the given time.
func StretchSteps(d *Diagnosis, t *Target, transfer time.Duration) []Step {
	return EndEarly(Plan(transfer, string(aimAt(d, t).way)))
}

// StretchStep is one step more over a part, or over the whole, whose Results so far are given: packets that are sent evenly until it is known
// whether the part loses as many as would make the whole what it is. false: no more is needed.
func StretchStep(d *Diagnosis, t *Target, part []*measure.Result) (Step, bool) {
	a := aimAt(d, t)
	s := readStretch(a.way, a.evenly, part)
	if a.evenly == 0 || s.stuck {
		return Step{}, false
	}
	made := 0
	for _, r := range part {
		if sortOf(r) == ofPaced {
			made++
		}
	}
	spent := s.sent * sectionBytes * 8 / a.evenly
	enough := a.losses(&s) != Untold || a.losses(&a.whole) == Passes || !a.slow
	if made >= evenOften || spent >= evenLongest || enough && spent > sectionShortest/2 {
		return Step{}, false
	}
	lasts := sectionShortest
	if !enough {
		packets := evenMore*model.NewRunLengthTest(a.run).Enough(s.lost) - s.sent
		lasts = min(max(math.Ceil(packets*sectionBytes*8/a.evenly), sectionShortest), evenLongest-spent)
	}
	asked := step("even", "throughput", string(a.way), "how many packets are lost that are sent evenly", lasts+setUpTakes,
		map[string]any{"proto": "udp", "rate": a.evenly, "duration": lasts, "length": sectionBytes})
	asked.Name = fmt.Sprintf("%s-%d", asked.Name, made+1)
	return asked, true
}

// OnRoute says whether what is known of a point so far, a ping and a trace, speaks against its standing on the route of a diagnosis; why not,
// or "".
func OnRoute(d *Diagnosis, point []*measure.Result) (why string) {
	whole, at := readStretch(measure.Way(measure.Forward), 0, d.Results), readStretch(measure.Way(measure.Forward), 0, point)
	_, why = offRoute(whole, at, Route(d.Results), Route(point))
	return why
}

// Answered reports whether anything came back from a point.
func Answered(point []*measure.Result) bool {
	return slices.ContainsFunc(point, func(r *measure.Result) bool {
		received, told := r.Get(measure.ReceivedPackets)
		return r.Kind == "ping" && told && received > 0
	})
}
